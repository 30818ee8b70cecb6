import type { OverrideLayer } from '../state/state-shape.js';

/** The last instant that a Date can hold. */
export const MAX_DATE_MS = 8.64e15;
/** When the wall clock has moved by more than this against `performance.now()`, somebody has set it. */
const MAX_DRIFT_MS = 1_000;

/** When an override will end, by the wall clock as it is now; undefined for one without an end. */
export function overrideEnd({ endsAt, clockOffset: offset }: OverrideLayer): Date | undefined {
  if (endsAt === undefined) return undefined;
  const now = clockOffset();
  // The two clocks drift by fractions of a millisecond. The answer stays the same unless somebody has set the wall clock.
  const shown = Math.abs(now - offset) > MAX_DRIFT_MS ? now : offset;
  return new Date(Math.min(Math.round(endsAt + shown), MAX_DATE_MS));
}

/** The difference between the wall clock and the monotonic clock, in milliseconds. */
export function clockOffset(): number {
  return Date.now() - performance.now();
}
