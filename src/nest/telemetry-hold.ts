import { forgetSpanGroupState } from '../core/groups/span-group-state.js';
import type { HeldByApplication, SharedHandle, SharedSetUp } from '../core/state/held-by-application.js';
import { processState } from '../core/state/process-state.js';
import { isSetUpSuperseded } from '../core/state/superseded-set-up.js';
import { withTimeout } from '../core/telemetry/with-timeout.js';
import type { AskedOfTelemetry } from './ignored-options.js';

/**
 * One application's hold on telemetry: the set-up that it shares with other applications of the process, or the pin that keeps
 * every group off. Either ends with the last application that holds it; one that is closing doesn't count for one that starts.
 */
export class TelemetryHold {
  constructor(private readonly held: HeldByApplication) {}

  get isClosing(): boolean {
    return this.held.isClosing;
  }

  /**
   * Uses the set-up that another application has made or is making. If all of its applications are closing, this waits for
   * its end instead.
   *
   * @returns undefined if there is none, or if it failed while it was made
   */
  async join(): Promise<SharedSetUp | undefined> {
    const { shared } = processState;
    if (shared === undefined) return undefined;
    if (isSetUpSuperseded()) {
      await this.outlast(shared);
      return this.join();
    }
    this.use(shared);
    try {
      await shared.ready;
      return shared;
    } catch {
      this.held.telemetry = undefined;
      return this.join(); // The application that made it has warned; another one may have tried since.
    }
  }

  /**
   * Makes the set-up that the applications of this process share.
   *
   * @param asked the options that it is made with
   */
  async make(asked: AskedOfTelemetry, setUp: () => Promise<SharedHandle>): Promise<SharedHandle> {
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    const shared: SharedSetUp = { asked, ready: setUp(), ended, end };
    processState.shared = shared;
    this.use(shared);
    try {
      return (shared.handle = await shared.ready);
    } catch (error) {
      if (processState.shared === shared) processState.shared = undefined;
      this.held.telemetry = undefined;
      end();
      throw error;
    }
  }

  /**
   * Waits until the applications that use a set-up have closed. On Nest 11, a close never ends if a hook throws; then the
   * set-up is shut down here, when their time is up.
   */
  private async outlast(shared: SharedSetUp): Promise<void> {
    const users = othersThan(this.held).filter(({ telemetry }) => telemetry === shared);
    const limitMs = Math.max(0, ...users.map((user) => user.limitMs));
    if (users.length > 0 || shared.handle === undefined) await withTimeout(limitMs, shared.ended);
    // Another waiting application may have been faster.
    if (processState.shared !== shared || !isSetUpSuperseded()) return;
    for (const user of users) user.telemetry = undefined;
    await shutDown(shared, limitMs);
  }

  private use(shared: SharedSetUp): void {
    // A close that has begun doesn't need the set-up; see `outlast`.
    for (const other of processState.applications) {
      if (other.isClosing && other.telemetry === shared) other.telemetry = undefined;
    }
    this.held.telemetry = shared;
    processState.applications.add(this.held);
  }

  /** Keeps every group off until the last application that pins has closed, unless another one sets telemetry up. */
  pin(): void {
    this.held.telemetry = 'pinned';
    processState.applications.add(this.held);
  }

  /**
   * The last application shuts down, in the same turn, because an application that starts now has to find the shutdown under
   * way.
   */
  async leave(timeoutMs: number): Promise<void> {
    const { telemetry, limitMs } = this.held;
    if (typeof telemetry === 'object' && telemetry.handle === undefined) return; // it is still being made
    this.held.telemetry = undefined;
    if (telemetry === undefined || othersThan(this.held).some((other) => other.telemetry === telemetry))
      return;
    if (telemetry === 'pinned') {
      const { pinned, telemetry: state } = processState;
      if (pinned && state.phase === 'off') forgetSpanGroupState();
    } else if (processState.shared === telemetry) {
      await shutDown(telemetry, timeoutMs, limitMs);
    }
  }
}

/** The other applications of the process that hold something. */
export function othersThan(held: HeldByApplication): HeldByApplication[] {
  return [...processState.applications].filter((other) => other !== held);
}

/** The shutdown begins in the same turn, so that applications that waited for the end find it under way. */
async function shutDown(shared: SharedSetUp, timeoutMs: number, limitMs = timeoutMs): Promise<void> {
  processState.shared = undefined;
  const done = shared.handle?.shutdown(timeoutMs, limitMs);
  shared.end();
  await done;
}
