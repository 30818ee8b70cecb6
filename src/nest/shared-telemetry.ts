import { processState } from '../core/process-state.js';
import type { TelemetryHandle } from '../core/telemetry.js';

/**
 * Lets the applications of a process share one set-up: the first sets up, later ones join it, even while it is still being
 * made, and the last one to leave shuts it down.
 *
 * @returns whether a set-up was there already
 */
export async function joinTelemetry(setUp: () => Promise<TelemetryHandle>): Promise<boolean> {
  const { shared } = processState;
  if (shared !== undefined) {
    shared.users++;
    await shared.ready;
    return true;
  }
  const ready = setUp();
  const made = { users: 1, ready };
  processState.shared = made;
  try {
    await ready;
    return false;
  } catch (error) {
    if (processState.shared === made) processState.shared = undefined;
    throw error;
  }
}

/** Begins to export, if the next one to leave is the last, and waits a little for it. */
export async function flushSharedAhead(timeoutMs: number): Promise<void> {
  const { shared } = processState;
  if (shared?.users !== 1) return;
  const handle = await shared.ready;
  await handle.flushAhead?.(timeoutMs);
}

/** Leaves the shared set-up; the last one waits for its shutdown, for at most so many milliseconds. */
export async function leaveTelemetry(timeoutMs: number | undefined): Promise<void> {
  const { shared } = processState;
  if (shared === undefined || --shared.users > 0) return;
  processState.shared = undefined;
  const handle = await shared.ready;
  await handle.shutdown(timeoutMs);
}
