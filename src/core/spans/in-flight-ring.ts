import type { Span } from '@opentelemetry/api';
import { clearInFlight } from '../state/in-flight.js';
import { processState } from '../state/process-state.js';
import type { InFlightLink } from '../state/in-flight.js';

/**
 * The largest number of spans to keep. A promise that never settles keeps its span, so without a limit memory would grow with
 * each such promise.
 */
export const MAX_IN_FLIGHT = 10_000;

export const { inFlight } = processState;
const { ring, others } = inFlight;

/** Numbers spans as they start: of two spans the one with the higher number is newer. */
export function nextSequence(): number {
  return ++inFlight.sequence;
}

/** Remembers a span of NestLens, so that a shutdown can end it. If there are too many, it forgets the oldest. */
export function trackInFlight(link: InFlightLink): void {
  if (inFlight.count >= MAX_IN_FLIGHT) untrackInFlight(ring.newer);
  link.newer = ring;
  link.older = ring.older;
  ring.older.newer = link;
  ring.older = link;
  inFlight.count++;
}

/** Forgets a span that has ended. If the link points to itself on both sides, it was forgotten before. */
export function untrackInFlight(link: InFlightLink): void {
  if (link.older === link) return;
  link.older.newer = link.newer;
  link.newer.older = link.older;
  link.older = link;
  link.newer = link;
  inFlight.count--;
}

/** Returns the spans under way, newest first, and forgets them. */
export function takeInFlight(): Span[] {
  const found = [...others].map(([span, sequence]) => ({ span, sequence }));
  for (let link = ring.older; link !== ring; link = link.older) {
    if (link.span !== undefined) found.push({ span: link.span, sequence: link.sequence });
  }
  clearInFlight(inFlight);
  return found.sort((a, b) => b.sequence - a.sequence).map(({ span }) => span);
}

/**
 * Tracks the other spans of a provider: those of instrumentations, and those that the application makes by hand. The copy
 * that started the SDK does this for all copies.
 */
export const IN_FLIGHT_PROCESSOR = {
  onStart(span: Span): void {
    if (inFlight.isStartingOwn) return;
    if (others.size >= MAX_IN_FLIGHT) {
      for (const oldest of others.keys()) {
        others.delete(oldest);
        break;
      }
    }
    others.set(span, nextSequence());
  },
  onEnd: (span: unknown): void => void others.delete(span as Span),
  forceFlush: (): Promise<void> => Promise.resolve(),
  shutdown: (): Promise<void> => Promise.resolve(),
};
