import { argumentError, checkOptions } from '../diagnostics/argument-error.js';
import { createError, NestLensError } from '../diagnostics/errors.js';
import { describeValue } from '../diagnostics/quote-details.js';
import { MAX_TIMER_MS } from './max-timer.js';
import { processState } from '../state/process-state.js';
import type { OverrideLayer } from '../state/state-shape.js';
import { specProblem } from './span-group-spec.js';
import { activeLayer, createLayer, dropOverride, enableExactly, resolveLayer } from './span-group-state.js';
import { emitWarnings } from '../diagnostics/warnings.js';

/** The last instant that a Date can hold. */
const MAX_DATE_MS = 8.64e15;
/** When the wall clock has moved by more than this against `performance.now()`, somebody has set it. */
const MAX_DRIFT_MS = 1_000;

/**
 * Puts another spec over the configured one for a while, e.g. to look closer at a running process. It re-resolves as the
 * configured one does; when it ends, the configured spec is back in force. The time is measured on the monotonic clock, so
 * setting the wall clock changes nothing.
 *
 * @param spec like `setSpanGroupSpec`'s
 * @param options `ttlMs`: milliseconds until it ends by itself; without it, it stays until `clearSpanGroupOverride`
 * @throws NestLensError `PINNED` on a pinned process, `INVALID_SPEC` for what can't be a spec, `INVALID_TTL` for a `ttlMs` that
 * isn't a positive number. TypeError for options that are no object or have another key. Nothing has changed when it throws
 *
 * @example
 * overrideSpanGroups('per_request,db_*', { ttlMs: 15 * 60_000 });
 */
export function overrideSpanGroups(spec: string, options: { ttlMs?: number } = {}): void {
  throwIfPinned();
  checkOptions('overrideSpanGroups: options', options);
  // A misspelt one would make an override without an end.
  const unknown = Object.keys(options).find((key) => key !== 'ttlMs');
  if (unknown !== undefined) throw argumentError('overrideSpanGroups: a key of options', 'ttlMs', unknown);
  const problem = specProblem(spec);
  if (problem !== undefined) throw createError(NestLensError, 'INVALID_SPEC', { problem });
  const { ttlMs } = options;
  if (ttlMs !== undefined && !(typeof ttlMs === 'number' && ttlMs > 0 && Date.now() + ttlMs <= MAX_DATE_MS)) {
    throw createError(NestLensError, 'INVALID_TTL', { given: describeValue(ttlMs) });
  }
  dropOverride();
  const layer: OverrideLayer = {
    ...createLayer(spec),
    endsAt: ttlMs === undefined ? undefined : performance.now() + ttlMs,
    clockOffset: clockOffset(),
    timer: undefined,
  };
  processState.override = layer;
  armExpiry(layer);
  emitWarnings(resolveLayer());
}

/**
 * Takes an override away at once; without one it does nothing.
 *
 * @throws NestLensError `PINNED` on a pinned process
 *
 * @example
 * clearSpanGroupOverride();
 */
export function clearSpanGroupOverride(): void {
  throwIfPinned();
  if (processState.override === undefined) return;
  dropOverride();
  if (activeLayer() === undefined) enableExactly(new Set());
  emitWarnings(resolveLayer());
}

/** When an override will end, by the wall clock as it is now; undefined for one without an end. */
export function overrideEnd({ endsAt, clockOffset: offset }: OverrideLayer): Date | undefined {
  if (endsAt === undefined) return undefined;
  const now = clockOffset();
  // The two clocks drift by fractions of a millisecond. The answer stays the same unless somebody has set the wall clock.
  const shown = Math.abs(now - offset) > MAX_DRIFT_MS ? now : offset;
  return new Date(Math.min(Math.round(endsAt + shown), MAX_DATE_MS));
}

/** The difference between the wall clock and the monotonic clock, in milliseconds. */
function clockOffset(): number {
  return Date.now() - performance.now();
}

function throwIfPinned(): void {
  if (processState.pinned) throw createError(NestLensError, 'PINNED');
}

function armExpiry(layer: OverrideLayer): void {
  if (layer.endsAt === undefined) return;
  const remaining = layer.endsAt - performance.now();
  layer.timer = setTimeout(
    () => {
      if (processState.override !== layer) return;
      // A longer time takes several timers, one after the other.
      if (performance.now() < layer.endsAt!) armExpiry(layer);
      else clearSpanGroupOverride();
    },
    Math.min(Math.max(Math.ceil(remaining), 0), MAX_TIMER_MS),
  );
  // An override must not keep a process alive.
  layer.timer.unref?.();
}
