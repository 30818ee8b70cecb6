import { explainSpanGroups } from '../../core/groups/explain-span-groups.js';
import { activeLayer } from '../../core/groups/active-layer.js';
import { overrideEnd } from '../../core/groups/override-end.js';
import { pendingSpanGroups } from '../../core/groups/span-group-state.js';
import { SpanRegistry } from '../../core/groups/span-registry.js';
import { processState } from '../../core/state/process-state.js';
import type { SpanGroupChange } from '../../core/state/span-group-change.js';
import type { SpanSite } from './span-sites.js';

/** One group, as `GET /lens/groups` describes it. */
export interface SpanGroupDescription {
  /** Its registered name. */
  name: string;
  /** Whether it is on, now. */
  enabled: boolean;
  /** Who registered it. */
  namespaces: string[];
  /** The presets that name it; `all` isn't listed. */
  presets: string[];
  /** The entries of the spec that turned it on; empty while it is off, or pinned on. */
  because: string[];
  /** How many decorated handlers and methods of this application are in it. */
  sites: number;
  /** There for the groups that instrumentations of the process are in. */
  kind?: 'instrumentation';
  /** The instrumentation scope whose spans it gates; several are separated by commas. */
  scope?: string;
  /** That scope's version; null until it has made its first span. */
  version?: string | null;
  /** Those sites; only if asked for. */
  siteList?: Omit<SpanSite, 'group'>[];
}

/** What `GET /lens/groups` answers. Every list is sorted. */
export interface LensReport {
  /** Whether telemetry is set up, whether spans leave the process, and whose provider makes them; `mode` is null when off. */
  telemetry: {
    enabled: boolean;
    exporting: boolean;
    mode: 'own' | 'attach' | null;
    /** When an export last succeeded; null before the first. This and the counts are left out where NestLens sees no exporter. */
    lastExportAt?: string | null;
    /** How many spans have been exported since the set-up. */
    spansExported?: number;
    /** How many were in exports that failed, or found the queue full. */
    spansLost?: number;
  };
  /** What was asked for. */
  spec: {
    /** The spec that was asked for, which counts without an override: the source's while it has one, else that of the configuration. */
    configured: string;
    /** Where that one comes from: the name of the source, the variable's name, `options` or `default`. */
    source: string;
    /** The spec in force: the override's while there is one; '' when pinned. */
    active: string;
    /** Whether the groups that are on were set as a list; then no spec counts. So it is while telemetry is disabled. */
    pinned: boolean;
    /** `expiresAt` is null for an override without an end. */
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
  /** Who has registered groups or presets. */
  namespaces: string[];
  /** Where requests can turn groups on for themselves: what they may turn on, and what became of those that wanted to. */
  requestOptIn?: {
    /** The entries of `allow`, as they were given. */
    allow: string;
    /** How many requests turned something on. */
    accepted: number;
    /** Reason -> how many turned nothing on. */
    ignored: Record<string, number>;
  };
  /** In the order in which they were given; the last hundred. */
  warnings: { code: string; message: string; at: string }[];
  /** What was changed since the set-up, the oldest first; the last fifty. */
  changes: SpanGroupChange[];
}

/** The document of `GET /lens/groups`, as things are now. */
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
  const { enabled, exporting, mode, exports } = processState.telemetry;
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
  // Without a prototype, so that a preset named `__proto__` is a key like any other.
  const described = Object.create(null) as Record<string, string[]>;
  for (const name of [...presets.keys()].sort()) described[name] = [...presets.get(name)!].sort();
  return described;
}
