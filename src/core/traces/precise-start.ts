import { performanceStart } from '../private-fields/private-fields.js';
import type { KeptSpan } from '../state/recent-traces-state.js';
import { milliseconds } from './span-time.js';

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
