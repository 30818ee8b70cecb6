import { LONGEST_TIMER_MS } from './longest-timer.js';
import { emitWarnings } from './warnings.js';

/** How long a flush or shutdown may take, in milliseconds, unless the caller says otherwise. */
export const DEFAULT_TIMEOUT_MS = 5_000;

/**
 * Runs the steps one after another, each whatever became of the one before, and settles when they are done or the time is
 * up; then the steps that haven't begun are still begun, so that exporters get their shutdown. Never rejects: one warning.
 */
export async function settleWithin(
  timeoutMs: number,
  steps: readonly (() => Promise<void>)[],
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
  const outcome = await within(timeoutMs, runNext());
  if (outcome === 'time is up') {
    errors.push(new Error('the time is up'));
    void runNext();
  }
  if (errors.length > 0) {
    emitWarnings([{ code: 'FLUSH_INCOMPLETE', details: { error: errors.flat()[0], timeoutMs } }]);
  }
}

/** Waits for a promise, but not longer than that; the timer is gone either way. */
export async function within<T>(timeoutMs: number, promise: Promise<T>): Promise<T | 'time is up'> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeUp = new Promise<'time is up'>((resolve) => {
    timer = setTimeout(() => resolve('time is up'), Math.min(timeoutMs, LONGEST_TIMER_MS));
  });
  try {
    return await Promise.race([promise, timeUp]);
  } finally {
    clearTimeout(timer);
  }
}
