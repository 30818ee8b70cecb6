import type { OverrideLayer } from '../state/spec-layers.js';

/** The last instant that a Date can hold. */
export const MAX_DATE_MS = 8.64e15;
/** If the wall clock moves by more than this against `performance.now()`, a person or NTP has set it. */
const MAX_DRIFT_MS = 1_000;

/** When an override will end, by the present wall clock; undefined if it has no end. */
export function overrideEnd({ endsAt, clockOffset: offset }: OverrideLayer): Date | undefined {
  if (endsAt === undefined) return undefined;
  const now = clockOffset();
  // The two clocks drift apart by fractions of a millisecond. The answer changes only if the wall clock was set.
  const shown = Math.abs(now - offset) > MAX_DRIFT_MS ? now : offset;
  return new Date(Math.min(Math.round(endsAt + shown), MAX_DATE_MS));
}

/** The difference between the wall clock and the monotonic clock, in milliseconds. */
export function clockOffset(): number {
  return Date.now() - performance.now();
}
