import type { Span } from '@opentelemetry/api';

/** A link of the ring of spans that NestLens has under way. */
export interface InFlightLink {
  readonly span: Span | undefined;
  readonly sequence: number;
  older: InFlightLink;
  newer: InFlightLink;
}

/** The spans under way: those of NestLens in a ring, which costs less than a set, and all others in a map. */
export interface InFlightSpans {
  /** The beginning and end of the ring; it has no span. */
  readonly ring: InFlightLink;
  /** The number of spans in the ring. */
  count: number;
  /** Counts spans as they start, to tell which one is newer. */
  sequence: number;
  readonly others: Map<Span, number>;
  /** True while any copy of NestLens starts a span of its own, which goes into the ring if it lasts. */
  isStartingOwn: boolean;
}

/** The links between spans stay, because each span will still remove itself. */
export function clearInFlight(inFlight: InFlightSpans): void {
  const { ring, others } = inFlight;
  for (let link = ring.older; link !== ring;) {
    const { older } = link;
    link.older = link;
    link.newer = link;
    link = older;
  }
  ring.older = ring;
  ring.newer = ring;
  inFlight.count = 0;
  others.clear();
}

export function createInFlight(): InFlightSpans {
  const ring = { span: undefined, sequence: 0 } as InFlightLink;
  ring.older = ring;
  ring.newer = ring;
  return { ring, count: 0, sequence: 0, others: new Map(), isStartingOwn: false };
}
