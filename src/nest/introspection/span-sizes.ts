import type { Attributes } from '@opentelemetry/api';
import { readScope } from '../../core/instrumentations/read-scope.js';
import { otlpSize } from '../../core/spans/otlp-size.js';
import { GROUP_ATTRIBUTE } from '../../core/spans/site-attributes.js';
import type { KeptSpan } from '../../core/state/recent-traces-state.js';
import { processState } from '../../core/state/process-state.js';
import { hearOfEndedSpans } from '../../core/telemetry/hear-of-ended-spans.js';
import type { SpanSite } from './span-sites.js';

/** The size of an instrumentation's span that was never seen: between those of express (200) and of an HTTP server (700). */
const INSTRUMENTATION_SPAN = 450;

interface Measured {
  spans: number;
  bytes: number;
}

/**
 * The sizes of spans, in bytes. If a group is on, real spans are measured as they end. If it is off, the size is estimated
 * from the data that NestLens knows before: the name and the attributes of the site, without those that the application adds.
 */
export class SpanSizes {
  private readonly ofGroups = new Map<string, Measured>();
  /** By scope, because the spans of an instrumentation are counted by scope. */
  private readonly ofScopes = new Map<string, Measured>();
  private readonly sites: ReadonlyMap<string, SpanSite>;
  private readonly stopHearing: (() => void) | undefined;

  constructor(sites: readonly SpanSite[]) {
    this.sites = new Map(sites.map((site) => [site.name, site]));
    this.stopHearing = hearOfEndedSpans((span) => this.measure(span));
  }

  /** The bytes of a span of a site: an average, or an estimate. */
  of(group: string, site: string): number {
    const measured = this.ofGroups.get(group) ?? this.ofScopes.get(site);
    if (measured !== undefined) return measured.bytes / measured.spans;
    if (processState.instrumentationScopes.has(group)) return INSTRUMENTATION_SPAN;
    return otlpSize({ name: site, attributes: knownAttributes(group, site, this.sites.get(site)) }, true);
  }

  /** Stops measuring spans. */
  stop(): void {
    this.stopHearing?.();
  }

  private measure(span: KeptSpan): void {
    const group = span.attributes[GROUP_ATTRIBUTE];
    const [sizes, name] =
      typeof group === 'string'
        ? [this.ofGroups, group]
        : [this.ofScopes, readScope(span.instrumentationScope).name];
    const measured = sizes.get(name) ?? { spans: 0, bytes: 0 };
    measured.spans++;
    measured.bytes += otlpSize(span);
    sizes.set(name, measured);
  }
}

/** The attributes of every span of a site. */
function knownAttributes(group: string, name: string, site: SpanSite | undefined): Attributes {
  const known: Attributes = { [GROUP_ATTRIBUTE]: group };
  if (site === undefined) return known;
  known['code.function.name'] = name;
  if (site.type === undefined) return known;
  // The two parts make up the name.
  Object.assign(known, { 'nestjs.controller': name, 'nestjs.callback': '', 'nestjs.type': site.type });
  if (site.route !== undefined) known['http.route'] = site.route;
  return known;
}
