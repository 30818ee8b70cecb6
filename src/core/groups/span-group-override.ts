import { createError, NestLensError } from '../diagnostics/errors.js';
import { LONGEST_TIMER_MS } from './longest-timer.js';
import { processState } from '../state/process-state.js';
import type { OverrideLayer } from '../state/state-shape.js';
import { createLayer, dropOverride, enableExactly, resolveLayer } from './span-group-state.js';
import { emitWarnings } from '../diagnostics/warnings.js';

/** The last instant that a Date can hold. */
const LAST_DATE_MS = 8.64e15;

/**
 * Puts another spec over the configured one for a while, e.g. to look closer at a running process. It re-resolves as the
 * configured one does; when it ends, the configured spec is back in force.
 *
 * @param spec like `setSpanGroupSpec`'s
 * @param options `ttlMs`: milliseconds until it ends by itself; without it, it stays until `clearSpanGroupOverride`
 * @throws NestLensError `PINNED` on a pinned process, `INVALID_TTL` for a `ttlMs` that isn't a positive number
 *
 * @example
 * overrideSpanGroups('per_request,db_*', { ttlMs: 15 * 60_000 });
 */
export function overrideSpanGroups(spec: string, options: { ttlMs?: number } = {}): void {
  throwIfPinned();
  const { ttlMs } = options;
  if (ttlMs !== undefined && !(ttlMs > 0 && Date.now() + ttlMs <= LAST_DATE_MS)) {
    throw createError(NestLensError, 'INVALID_TTL', { ttlMs });
  }
  dropOverride();
  const layer: OverrideLayer = {
    ...createLayer(String(spec ?? '')),
    expiresAt: ttlMs === undefined ? undefined : Date.now() + ttlMs,
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
  if (processState.configured === undefined) enableExactly(new Set());
  emitWarnings(resolveLayer());
}

function throwIfPinned(): void {
  if (processState.pinned) throw createError(NestLensError, 'PINNED');
}

function armExpiry(layer: OverrideLayer): void {
  if (layer.expiresAt === undefined) return;
  const remaining = layer.expiresAt - Date.now();
  layer.timer = setTimeout(
    () => {
      if (processState.override !== layer) return;
      // A wait longer than a timer takes is made of several.
      if (Date.now() < (layer.expiresAt ?? 0)) armExpiry(layer);
      else clearSpanGroupOverride();
    },
    Math.min(Math.max(remaining, 0), LONGEST_TIMER_MS),
  );
  // An override must not keep a process alive.
  layer.timer.unref?.();
}
