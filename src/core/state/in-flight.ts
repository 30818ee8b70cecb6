import type { InFlightLink, InFlightSpans } from './state-shape.js';

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
