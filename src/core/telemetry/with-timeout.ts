import { exportFailureOf } from '../diagnostics/export-failure.js';
import { MAX_TIMER_MS } from '../groups/max-timer.js';
import { isSaidFailure } from '../diagnostics/said-failures.js';
import { emitWarnings } from '../diagnostics/warnings.js';

/** The default limit of a flush or shutdown, in milliseconds. */
export const DEFAULT_TIMEOUT_MS = 5_000;

/**
 * Reads a limit in milliseconds. A value that isn't a number of 0 or more counts as the default. `Number()` of an unset variable
 * is NaN, and a timer takes NaN as 1 ms: every close would lose its last spans.
 */
export function timeLimitOf(given: unknown): number {
  return typeof given === 'number' && given >= 0 ? given : DEFAULT_TIMEOUT_MS;
}

/**
 * Runs the steps one after another, even if one fails, and settles when they are done or the time is up. When the time is up,
 * the remaining steps are still begun, so that exporters get their shutdown. It never rejects; a failure is one warning.
 *
 * @param timeoutMs milliseconds, as given; see {@link timeLimitOf}
 * @param limitMs the application's limit, if `timeoutMs` is only the rest of it
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
  // An SDK rejects with a list of errors.
  const unsaid = errors.flat().filter((error) => !isSaidFailure(error));
  if (outcome === 'time is up') void runNext();
  else if (unsaid.length === 0) return;
  const [error] = unsaid;
  const failure = unsaid.length === 0 ? 'time is up' : exportFailureOf(error);
  const details = { failure, error: error ?? new Error('the time is up'), timeoutMs: timeLimitOf(limitMs) };
  emitWarnings([{ code: 'FLUSH_INCOMPLETE', details }]);
}

/** Waits for all of them, then rejects if one has. `Promise.all` would not wait for the rest. */
export async function allEnded(promises: readonly Promise<unknown>[]): Promise<void> {
  await Promise.allSettled(promises);
  await Promise.all(promises);
}

/** Waits for a promise, but no longer than this. The timer is cleared either way. */
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
