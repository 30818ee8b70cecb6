import { describeValue, quote } from '../../core/diagnostics/quote-details.js';

/** What a group would make. */
export interface PreviewedGroup {
  name: string;
  spans: number;
  perSecond: number;
  /** The called sites, busiest first: names of methods and spans, or of an instrumentation. */
  sites: { name: string; spans: number }[];
}

/** The answer of `POST /lens/groups/preview`: the counts of that time. */
export interface PreviewReport {
  /** How long was counted. */
  seconds: number;
  /** The number of spans that the groups would make, or do make, together. */
  spans: number;
  perSecond: number;
  /** An estimate of the size of their export, as uncompressed OTLP in protobuf. */
  bytesPerSecond: number;
  /** Every requested group, the busiest first. */
  groups: PreviewedGroup[];
  /** Only if a requested name is not registered in this process. */
  pending?: string[];
}

/** The counts, and the time that they took. */
export interface Counted {
  /** Group -> site -> spans. */
  readonly counts: ReadonlyMap<string, ReadonlyMap<string, number>>;
  readonly seconds: number;
  readonly pending: readonly string[];
  /** The bytes of one span. */
  readonly sizeOf: (group: string, site: string) => number;
}

interface Busy {
  readonly name: string;
  readonly spans: number;
}

/** Makes a report of the counts so far. */
export function reportPreview({ counts, seconds: lasted, pending, sizeOf }: Counted): PreviewReport {
  const seconds = rounded(lasted, 1_000);
  let bytes = 0;
  const perSecond = (spans: number): number => rounded(seconds > 0 ? spans / seconds : 0, 100);
  const groups = [...counts].map(([name, bySite]) => {
    const sites = [...bySite].map(([site, spans]) => ({ name: siteName(site), spans }));
    for (const site of sites) bytes += site.spans * sizeOf(name, site.name);
    const spans = sumOf(sites);
    return { name, spans, perSecond: perSecond(spans), sites: sites.sort(busiestFirst) };
  });
  const spans = sumOf(groups);
  return {
    seconds,
    spans,
    perSecond: perSecond(spans),
    bytesPerSecond: seconds > 0 ? Math.round(bytes / seconds) : 0,
    groups: groups.sort(busiestFirst),
    ...(pending.length > 0 ? { pending: [...pending] } : {}),
  };
}

/** Any text may be the name of a span, because application code gives it. */
function siteName(site: unknown): string {
  return typeof site === 'string' ? quote(site) : describeValue(site);
}

function sumOf(counted: readonly Busy[]): number {
  return counted.reduce((sum, { spans }) => sum + spans, 0);
}

function busiestFirst(a: Busy, b: Busy): number {
  return b.spans - a.spans || (a.name < b.name ? -1 : 1);
}

function rounded(number: number, steps: number): number {
  return Math.round(number * steps) / steps;
}
