import type { KeptSpan } from '../state/recent-traces.js';
import { milliseconds } from './span-time.js';

/** What the SDK keeps privately of a span's start. */
interface StartOfSdk {
  readonly _performanceStartTime?: unknown;
  readonly _startTimeProvided?: unknown;
}

/**
 * `_performanceStartTime` of a span: when it started by the clock that never jumps. The public `startTime` is in whole
 * milliseconds, so that the steps of a fast request would all seem to begin together. Public would be a `startTime` as exact as
 * `duration`. Seen in SDK 2.0 to 3.1; undefined where it isn't, and for a span whose start the application has given.
 */
export function performanceStart(span: KeptSpan): number | undefined {
  const { _performanceStartTime: start, _startTimeProvided: isGiven } = span as StartOfSdk;
  return typeof start === 'number' && Number.isFinite(start) && isGiven !== true ? start : undefined;
}

/** Gives the starts of spans in milliseconds since the epoch, told from the start of the first one where both are known exactly. */
export function preciseStarts(first: KeptSpan | undefined): (span: KeptSpan) => number {
  const base = first && performanceStart(first);
  if (first === undefined || base === undefined) return ({ startTime }) => milliseconds(startTime);
  const epoch = milliseconds(first.startTime) - base;
  return (span) => {
    const start = performanceStart(span);
    return start === undefined ? milliseconds(span.startTime) : epoch + start;
  };
}
