import { argumentError, checkOptions } from '../diagnostics/argument-error.js';
import { createError, NestLensError } from '../diagnostics/errors.js';
import { describeValue } from '../diagnostics/quote-details.js';
import { MAX_TIMER_MS } from './max-timer.js';
import { clockOffset, MAX_DATE_MS } from './override-end.js';
import { processState } from '../state/process-state.js';
import type { OverrideLayer } from '../state/spec-layers.js';
import { BY_CODE, BY_EXPIRY } from './span-group-changes.js';
import { specProblem } from './span-group-spec.js';
import { changeSpec, createLayer, dropOverride } from './span-group-state.js';

/**
 * Replaces the configured spec for a while, e.g. to look closer at a running process. Later registrations re-resolve it. When
 * it ends, the configured spec is in force again. The time runs on the monotonic clock, so setting the wall clock changes
 * nothing.
 *
 * @param spec like `setSpanGroupSpec`'s
 * @param options `ttlMs`: milliseconds until it ends by itself; without it, it stays until `clearSpanGroupOverride`
 * @throws NestLensError `PINNED` on a pinned process, `INVALID_SPEC` for what can't be a spec, `INVALID_TTL` for a `ttlMs` that
 * isn't a positive number. TypeError for options that aren't an object or have another key. Nothing has changed when it throws
 *
 * @example
 * overrideSpanGroups('per_request,db_*', { ttlMs: 15 * 60_000 });
 */
export function overrideSpanGroups(spec: string, options: { ttlMs?: number } = {}): void {
  overrideAs(BY_CODE, spec, options);
}

/** The same, on behalf of a person or program; see {@link beginChange}. */
export function overrideAs(by: string | null, spec: string, options: { ttlMs?: number }): void {
  throwIfPinned();
  checkOptions('overrideSpanGroups: options', options);
  // A misspelt `ttlMs` would make an override without an end.
  const unknown = Object.keys(options).find((key) => key !== 'ttlMs');
  if (unknown !== undefined) throw argumentError('overrideSpanGroups: a key of options', 'ttlMs', unknown);
  const problem = specProblem(spec);
  if (problem !== undefined) throw createError(NestLensError, 'INVALID_SPEC', { problem });
  const { ttlMs } = options;
  if (ttlMs !== undefined && !(typeof ttlMs === 'number' && ttlMs > 0 && Date.now() + ttlMs <= MAX_DATE_MS)) {
    throw createError(NestLensError, 'INVALID_TTL', { given: describeValue(ttlMs) });
  }
  const layer: OverrideLayer = {
    ...createLayer(spec),
    endsAt: ttlMs === undefined ? undefined : performance.now() + ttlMs,
    clockOffset: clockOffset(),
    timer: undefined,
  };
  changeSpec(by, () => {
    dropOverride();
    processState.override = layer;
    armExpiry(layer);
  });
}

/**
 * Ends the override at once. Without one it does nothing.
 *
 * @throws NestLensError `PINNED` on a pinned process
 *
 * @example
 * clearSpanGroupOverride();
 */
export function clearSpanGroupOverride(): void {
  clearOverrideAs(BY_CODE);
}

/** The same, on behalf of a person or program; see {@link beginChange}. */
export function clearOverrideAs(by: string | null): void {
  throwIfPinned();
  changeSpec(by, dropOverride);
}

function throwIfPinned(): void {
  if (processState.pinned) throw createError(NestLensError, 'PINNED');
}

function armExpiry(layer: OverrideLayer): void {
  if (layer.endsAt === undefined) return;
  const remaining = layer.endsAt - performance.now();
  layer.timer = setTimeout(
    () => {
      // Fake timers of a test that start after the override don't clear this timer when the override is dropped.
      if (processState.override !== layer) return;
      // A time longer than one timer can wait takes several timers, one after the other.
      if (performance.now() < layer.endsAt!) armExpiry(layer);
      else clearOverrideAs(BY_EXPIRY);
    },
    Math.min(Math.max(Math.ceil(remaining), 0), MAX_TIMER_MS),
  );
  // An override must not keep a process alive.
  layer.timer.unref?.();
}
