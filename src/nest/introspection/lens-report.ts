import { explainSpanGroups } from '../../core/groups/explain-span-groups.js';
import { activeLayer } from '../../core/groups/active-layer.js';
import { overrideEnd } from '../../core/groups/override-end.js';
import { pendingSpanGroups } from '../../core/groups/span-group-state.js';
import { SpanRegistry } from '../../core/groups/span-registry.js';
import { processState } from '../../core/state/process-state.js';
import type { SpanGroupChange } from '../../core/state/span-group-change.js';
import type { SpanSite } from './span-sites.js';

/** One group, in the form of `GET /lens/groups`. */
export interface SpanGroupDescription {
  /** Its registered name. */
  name: string;
  /** Whether it is on, now. */
  enabled: boolean;
  /** Who registered it. */
  namespaces: string[];
  /** The presets that name it, without `all`. */
  presets: string[];
  /** The entries of the spec that turned it on; empty while it is off, or pinned on. */
  because: string[];
  /** The number of its decorated handlers and methods in this application. */
  sites: number;
  /** Only for groups of instrumentations. */
  kind?: 'instrumentation';
  /** The instrumentation scope whose spans it gates; several are separated by commas. */
  scope?: string;
  /** The scope's version; null until its first span. */
  version?: string | null;
  /** Its sites; only on request. */
  siteList?: Omit<SpanSite, 'group'>[];
}

/** The answer of `GET /lens/groups`. Every list is sorted. */
export interface LensReport {
  /** Whether telemetry is set up, whether spans are exported, and whose provider makes them; `mode` is null when off. */
  telemetry: {
    enabled: boolean;
    exporting: boolean;
    mode: 'own' | 'attach' | null;
    /**
     * The time of the last successful export; null before the first. This and the counts are left out if NestLens sees no
     * exporter.
     */
    lastExportAt?: string | null;
    /** The number of spans exported since the set-up. */
    spansExported?: number;
    /** The number of spans in failed exports, or dropped because the queue was full. */
    spansLost?: number;
  };
  /** What was asked for. */
  spec: {
    /** The spec without an override: that of the source if it gave one, else that of the configuration. */
    configured: string;
    /** The origin of that spec: the name of the source, the variable's name, `options` or `default`. */
    source: string;
    /** The spec in force: the override's while there is one; '' while the groups are pinned. */
    active: string;
    /** Whether the groups were set as a list, so that no spec counts. That is so while telemetry is disabled. */
    pinned: boolean;
    /** `expiresAt` is null if the override has no end. */
    override: { spec: string; expiresAt: string | null } | null;
  };
  /** The groups that are on. */
  enabled: string[];
  /** The entries of the spec in force that match nothing so far. */
  pending: string[];
  /** Every registered group. */
  groups: SpanGroupDescription[];
  /** Every preset with its registered members, `all` included. */
  presets: Record<string, string[]>;
  /** The namespaces that have registered groups or presets. */
  namespaces: string[];
  /** Only if requests can turn groups on for themselves: the groups that they may turn on, and the outcomes. */
  requestOptIn?: {
    /** The entries of `allow`, as given. */
    allow: string;
    /** The number of requests that turned groups on. */
    accepted: number;
    /** Reason -> the number of requests that turned nothing on. */
    ignored: Record<string, number>;
  };
  /** The last hundred warnings, in the order in which they were given. */
  warnings: { code: string; message: string; at: string }[];
  /** The last fifty changes since the set-up, oldest first. */
  changes: SpanGroupChange[];
}

/** The present document of `GET /lens/groups`. */
export function reportLens(sites: readonly SpanSite[], withSites: boolean): LensReport {
  const { override, pinned, recordedWarnings, changes } = processState;
  return {
    telemetry: describeTelemetry(),
    spec: {
      ...describeAsked(),
      active: activeLayer()?.spec.raw ?? '',
      pinned,
      override:
        override === undefined
          ? null
          : {
              spec: override.spec.raw,
              expiresAt: overrideEnd(override)?.toISOString() ?? null,
            },
    },
    enabled: [...processState.enabled].sort(),
    pending: [...pendingSpanGroups()].sort(),
    groups: describeGroups(sites, withSites),
    presets: describePresets(),
    namespaces: [...SpanRegistry.namespaces()],
    ...describeRequestOptIn(),
    warnings: recordedWarnings.map(({ code, message, at }) => ({
      code,
      message,
      at: new Date(at).toISOString(),
    })),
    changes: changes.map((change) => ({ ...change })),
  };
}

function describeAsked(): Pick<LensReport['spec'], 'configured' | 'source'> {
  const { sourced, configured, telemetry } = processState;
  if (sourced !== undefined) return { configured: sourced.spec.raw, source: sourced.source };
  const { configuredSpec, specSource } = telemetry;
  const spec = configured?.spec.raw ?? configuredSpec;
  return { configured: spec, source: spec === configuredSpec ? specSource : 'options' };
}

function describeGroups(sites: readonly SpanSite[], withSites: boolean): SpanGroupDescription[] {
  const sitesOf = groupSites(sites);
  return explainSpanGroups().map((group) => {
    const ofGroup = sitesOf.get(group.name) ?? [];
    return {
      ...group,
      sites: ofGroup.length,
      ...describeScopes(group.name),
      ...(withSites ? { siteList: ofGroup.map(({ group: _, ...site }) => site) } : {}),
    };
  });
}

function describeTelemetry(): LensReport['telemetry'] {
  const { exporting, mode, exports } = processState.telemetry;
  const enabled = mode !== null;
  if (exports === undefined) return { enabled, exporting, mode };
  const { lastExportAt, spansExported, spansLost } = exports;
  return {
    enabled,
    exporting,
    mode,
    lastExportAt: lastExportAt === undefined ? null : new Date(lastExportAt).toISOString(),
    spansExported,
    spansLost,
  };
}

function describeRequestOptIn(): Pick<LensReport, 'requestOptIn'> {
  const { requestOptIn } = processState;
  if (requestOptIn === undefined) return {};
  const { accepted = 0, ...ignored } = Object.fromEntries([...requestOptIn.counts].sort());
  return { requestOptIn: { allow: requestOptIn.allow.raw, accepted, ignored } };
}

function describeScopes(group: string): Pick<SpanGroupDescription, 'kind' | 'scope' | 'version'> {
  const scopes = processState.instrumentationScopes.get(group);
  if (scopes === undefined) return {};
  const versions = scopes.flatMap(({ version }) => version ?? []);
  return {
    kind: 'instrumentation',
    scope: scopes.map(({ name }) => name).join(', '),
    version: versions.length === 0 ? null : versions.join(', '),
  };
}

function groupSites(sites: readonly SpanSite[]): Map<string, SpanSite[]> {
  const grouped = new Map<string, SpanSite[]>();
  for (const site of sites) {
    const known = grouped.get(site.group);
    if (known === undefined) grouped.set(site.group, [site]);
    else known.push(site);
  }
  return grouped;
}

function describePresets(): Record<string, string[]> {
  const presets = SpanRegistry.presets();
  // It has no prototype, so that a preset named `__proto__` is an ordinary key.
  const described = Object.create(null) as Record<string, string[]>;
  for (const name of [...presets.keys()].sort()) described[name] = [...presets.get(name)!].sort();
  return described;
}
