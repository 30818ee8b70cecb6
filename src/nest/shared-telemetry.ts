import { processState } from '../core/process-state.js';
import type { TelemetryHandle } from '../core/telemetry.js';

/**
 * Joins the set-up that another application of this process has made, or is making now. The last application to leave shuts
 * it down.
 *
 * @returns false when there is none, or when the one that was being made has failed
 */
export async function joinTelemetry(): Promise<boolean> {
  const { shared } = processState;
  if (shared === undefined) return false;
  shared.users++;
  try {
    await shared.ready;
    return true;
  } catch {
    return joinTelemetry(); // whoever made it has said why; another one may have tried since
  }
}

/** Makes the set-up that the applications of this process share. */
export async function shareTelemetry(setUp: () => Promise<TelemetryHandle>): Promise<void> {
  const ready = setUp();
  const shared: NonNullable<typeof processState.shared> = { users: 1, ready };
  processState.shared = shared;
  try {
    shared.handle = await ready;
  } catch (error) {
    if (processState.shared === shared) processState.shared = undefined;
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
  // Without a turn in between: an application that starts now has to find the shutdown under way, and waits for it.
  const handle = shared.handle ?? (await shared.ready);
  await handle.shutdown(timeoutMs);
}
