import type { KeptSpan } from '../state/recent-traces.js';
import { milliseconds } from './span-time.js';

/** The SDK's private field for the start of a span. */
interface StartOfSdk {
  readonly _performanceStartTime?: unknown;
  readonly _startTimeProvided?: unknown;
}

/**
 * `_performanceStartTime` of a span: its start by the monotonic clock. The public `startTime` is in whole milliseconds, so
 * the steps of a fast request would seem to begin together. The missing public way is a `startTime` as exact as `duration`.
 * Seen in SDK 2.0 to 3.1; undefined in other versions, and for a span whose start the application has given.
 */
export function performanceStart(span: KeptSpan): number | undefined {
  const { _performanceStartTime: start, _startTimeProvided: isGiven } = span as StartOfSdk;
  return typeof start === 'number' && Number.isFinite(start) && isGiven !== true ? start : undefined;
}

/**
 * The starts of spans in milliseconds since the epoch, computed from the start of the first span if both exact starts are
 * known.
 */
export function preciseStarts(first: KeptSpan | undefined): (span: KeptSpan) => number {
  const base = first && performanceStart(first);
  if (first === undefined || base === undefined) return ({ startTime }) => milliseconds(startTime);
  const epoch = milliseconds(first.startTime) - base;
  return (span) => {
    const start = performanceStart(span);
    return start === undefined ? milliseconds(span.startTime) : epoch + start;
  };
}
