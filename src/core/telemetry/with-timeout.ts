import { exportFailureOf } from '../diagnostics/export-failure.js';
import { MAX_TIMER_MS } from '../groups/max-timer.js';
import { isSaidFailure } from '../diagnostics/said-failures.js';
import { emitWarnings } from '../diagnostics/warnings.js';

/** How long a flush or shutdown may take, in milliseconds, unless the caller says otherwise. */
export const DEFAULT_TIMEOUT_MS = 5_000;

/**
 * A limit in milliseconds, as somebody gave it. What is no number from 0 up counts as the default: `Number()` of a variable
 * that isn't set is NaN, which a timer would take for 1 ms, so that every close would lose its last spans.
 */
export function timeLimitOf(given: unknown): number {
  return typeof given === 'number' && given >= 0 ? given : DEFAULT_TIMEOUT_MS;
}

/**
 * Runs the steps one after another, each whatever became of the one before, and settles when they are done or the time is
 * up; then the steps that haven't begun are still begun, so that exporters get their shutdown. Never rejects: one warning.
 *
 * @param timeoutMs milliseconds, as somebody gave it; see {@link timeLimitOf}
 * @param limitMs the limit that the application knows of, where this is what is left of it
 */
export async function settleWithin(
  timeoutMs: number,
  steps: readonly (() => Promise<void>)[],
  limitMs = timeoutMs,
): Promise<void> {
  const waiting = [...steps];
  const errors: unknown[] = [];
  const runNext = async (): Promise<void> => {
    const step = waiting.shift();
    if (step === undefined) return;
    try {
      await step();
    } catch (error) {
      errors.push(error);
    }
    await runNext();
  };
  const outcome = await withTimeout(timeLimitOf(timeoutMs), runNext());
  // An SDK rejects with a list.
  const unsaid = errors.flat().filter((error) => !isSaidFailure(error));
  if (outcome === 'time is up') void runNext();
  else if (unsaid.length === 0) return;
  const [error] = unsaid;
  const failure = unsaid.length === 0 ? 'time is up' : exportFailureOf(error);
  const details = { failure, error: error ?? new Error('the time is up'), timeoutMs: timeLimitOf(limitMs) };
  emitWarnings([{ code: 'FLUSH_INCOMPLETE', details }]);
}

/** Waits for all of them, then rejects if one of them has. `Promise.all` would leave the rest to themselves. */
export async function allEnded(promises: readonly Promise<unknown>[]): Promise<void> {
  await Promise.allSettled(promises);
  await Promise.all(promises);
}

/** Waits for a promise, but not longer than that; the timer is gone either way. */
export async function withTimeout<T>(timeoutMs: number, promise: Promise<T>): Promise<T | 'time is up'> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeUp = new Promise<'time is up'>((resolve) => {
    timer = setTimeout(() => resolve('time is up'), Math.min(timeoutMs, MAX_TIMER_MS));
  });
  try {
    return await Promise.race([promise, timeUp]);
  } finally {
    clearTimeout(timer);
  }
}
