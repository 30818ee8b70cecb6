import { processState } from '../core/state/process-state.js';
import type { SharedHandle } from '../core/state/state-shape.js';

type Shared = NonNullable<typeof processState.shared>;

/** One application's part in the set-up that the applications of a process share; the last one to leave shuts it down. */
export class SharedTelemetry {
  private readonly shared: Shared;
  /** Those that were closing already when this one came. */
  private readonly closingBefore: ReadonlySet<object>;
  private isLeaving = false;

  private constructor(shared: Shared) {
    this.shared = shared;
    this.closingBefore = new Set(shared.leaving);
    shared.users++;
  }

  /**
   * Joins the set-up that another application of this process has made, or is making now.
   *
   * @returns undefined when there is none, or when the one that was being made has failed
   */
  static async join(): Promise<SharedTelemetry | undefined> {
    const { shared } = processState;
    if (shared === undefined) return undefined;
    const joined = new SharedTelemetry(shared);
    try {
      await shared.ready;
      return joined;
    } catch {
      return SharedTelemetry.join(); // whoever made it has said why; another one may have tried since
    }
  }

  /** Makes the set-up that the applications of this process share. */
  static async make(setUp: () => Promise<SharedHandle>): Promise<SharedTelemetry> {
    const ready = setUp();
    const shared: Shared = { users: 0, leaving: new Set(), ready };
    processState.shared = shared;
    const made = new SharedTelemetry(shared);
    try {
      shared.handle = await ready;
    } catch (error) {
      if (processState.shared === shared) processState.shared = undefined;
      throw error;
    }
    return made;
  }

  /**
   * For an application that begins to close: starts to export, unless others go on, and waits a little for it.
   *
   * @param timeoutMs milliseconds
   */
  async flushAhead(timeoutMs: number): Promise<void> {
    this.beginToLeave();
    if (this.shared.users > 0) return;
    const handle = await this.shared.ready;
    await handle.flushAhead(timeoutMs);
  }

  /**
   * Leaves; the last one waits for the shutdown.
   *
   * @param timeoutMs for at most so many milliseconds
   * @param limitMs of so many that the application has set
   */
  async leave(timeoutMs: number, limitMs: number): Promise<void> {
    const { shared } = this;
    this.beginToLeave();
    shared.leaving.delete(this);
    if (processState.shared !== shared || shared.users > 0) return;
    // Whoever is still closing shuts down. But on Nest 11 a close that somebody's hook breaks off never gets to its end: one
    // that had begun before this application came, and isn't done when this one goes, isn't counted on; and what this one
    // has left is exported in any case.
    const others = [...shared.leaving];
    if (!others.every((other) => this.closingBefore.has(other))) {
      await (await shared.ready).flushAhead(timeoutMs);
      return;
    }
    processState.shared = undefined;
    // Without a turn in between: an application that starts now has to find the shutdown under way, and waits for it.
    const handle = shared.handle ?? (await shared.ready);
    await handle.shutdown(timeoutMs, limitMs);
  }

  private beginToLeave(): void {
    if (this.isLeaving) return;
    this.isLeaving = true;
    this.shared.users--;
    this.shared.leaving.add(this);
  }
}
