import { isSameRegistration, type ReadDefinition } from '../core/groups/span-group-definition.js';
import { forgetSpanGroupState } from '../core/groups/span-group-state.js';
import { registerDefinition, SpanRegistry } from '../core/groups/span-registry.js';
import { processState } from '../core/state/process-state.js';
import { isSetUpSuperseded } from '../core/state/superseded-set-up.js';
import type { HeldByApplication, SharedHandle, SharedSetUp } from '../core/state/state-shape.js';
import { renewAutoRegistration } from './auto-groups/auto-registration.js';
import type { AskedOfTelemetry } from './ignored-options.js';
import { DEFAULT_TIMEOUT_MS, withTimeout } from '../core/telemetry/with-timeout.js';

/** What an application holds that has only begun. */
export function holdNothing(): HeldByApplication {
  return {
    namespaces: new Set(),
    telemetry: undefined,
    settingUp: undefined,
    isSetUp: false,
    isClosing: false,
    released: undefined,
    limitMs: DEFAULT_TIMEOUT_MS,
  };
}

/**
 * One application's hold on the process: the namespaces that it has registered, and the set-up that it uses, or the pin that
 * keeps every group off. What several applications hold goes with the last of them. An application that is closing doesn't
 * count any more for one that starts.
 */
export class ApplicationHold {
  constructor(private readonly held: HeldByApplication) {}

  get isClosing(): boolean {
    return this.held.isClosing;
  }

  /** For at most how many milliseconds the application waits, at the end of its close. */
  set limitMs(limitMs: number) {
    this.held.limitMs = limitMs;
  }

  /**
   * Registers a definition. The same content registered again (by another application, by a module that is imported twice) is
   * the same registration; what was registered by other means isn't held, and stays.
   *
   * @throws SpanRegistryError for other content under a namespace that is taken, unless the definition allows overriding
   */
  register(definition: ReadDefinition): void {
    const { namespace } = definition;
    const known = processState.namespaces.get(namespace);
    const holders = [...processState.applications].filter(({ namespaces }) => namespaces.has(namespace));
    if (known === undefined || !isSameRegistration(known, definition)) {
      const isSuperseding = holders.length > 0 && holders.every(({ isClosing }) => isClosing);
      registerDefinition(isSuperseding ? { ...definition, allowOverride: true } : definition);
      if (isSuperseding) for (const { namespaces } of holders) namespaces.delete(namespace);
    } else if (holders.length === 0) {
      return;
    }
    this.held.namespaces.add(namespace);
    processState.applications.add(this.held);
  }

  /** Does the set-up, once; a close that comes meanwhile waits for it. */
  async setUp(work: () => Promise<void>): Promise<void> {
    if (this.held.isClosing) return;
    await (this.held.settingUp ??= this.doSetUp(work));
  }

  private async doSetUp(work: () => Promise<void>): Promise<void> {
    await work();
    this.held.isSetUp = true;
    // The close has waited for as long as it may.
    if (this.held.released !== undefined) await this.leaveTelemetry(this.held.limitMs);
  }

  /**
   * Uses the set-up that another application has made, or is making now. One whose applications are all closing isn't used: this
   * waits for its end.
   *
   * @returns undefined when there is none, or when the one that was being made has failed
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
      return this.join(); // whoever made it has said why; another one may have tried since
    }
  }

  /**
   * Makes the set-up that the applications of this process share.
   *
   * @param asked what it is made with
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
   * Waits until the applications that use a set-up have closed. On Nest 11 a close that a hook breaks off never comes to its end:
   * then it is shut down here, when the time is up that they may take.
   */
  private async outlast(shared: SharedSetUp): Promise<void> {
    const users = this.others().filter(({ telemetry }) => telemetry === shared);
    const limitMs = Math.max(0, ...users.map((user) => user.limitMs));
    if (users.length > 0 || shared.handle === undefined) await withTimeout(limitMs, shared.ended);
    // Another application that waited, too, may have been faster.
    if (processState.shared !== shared || !isSetUpSuperseded()) return;
    for (const user of users) user.telemetry = undefined;
    await shutDown(shared, limitMs);
  }

  private use(shared: SharedSetUp): void {
    // Nobody relies on a close that has begun; see `outlast`.
    for (const other of processState.applications) {
      if (other.isClosing && other.telemetry === shared) other.telemetry = undefined;
    }
    this.held.telemetry = shared;
    processState.applications.add(this.held);
  }

  /** Every group stays off until the last application that wants it so has closed, unless another one sets telemetry up. */
  pin(): void {
    this.held.telemetry = 'pinned';
    processState.applications.add(this.held);
  }

  /** An application that starts from now on takes the place of this one. */
  beginToClose(): void {
    this.held.isClosing = true;
  }

  /** Gives everything up. If nobody else uses the set-up it is shut down, and waited for. */
  release(): Promise<void> {
    return (this.held.released ??= this.doRelease());
  }

  private async doRelease(): Promise<void> {
    const { held } = this;
    held.isClosing = true;
    const began = performance.now();
    try {
      if (held.settingUp !== undefined && !held.isSetUp) await withTimeout(held.limitMs, held.settingUp);
      await this.leaveTelemetry(Math.max(0, held.limitMs - (performance.now() - began)));
    } finally {
      // After the shutdown, which forgets the spec: there is nothing left to warn about.
      for (const namespace of held.namespaces) this.unregister(namespace);
      held.namespaces.clear();
      processState.applications.delete(held);
      renewAutoRegistration();
    }
  }

  /** The last one shuts down, without a turn before: an application that starts now has to find the shutdown under way. */
  private async leaveTelemetry(timeoutMs: number): Promise<void> {
    const { telemetry, limitMs } = this.held;
    if (typeof telemetry === 'object' && telemetry.handle === undefined) return; // it is still being made
    this.held.telemetry = undefined;
    if (telemetry === undefined || this.others().some((other) => other.telemetry === telemetry)) return;
    if (telemetry === 'pinned') {
      const { pinned, telemetry: state } = processState;
      if (pinned && state.phase === 'off') forgetSpanGroupState();
    } else if (processState.shared === telemetry) {
      await shutDown(telemetry, timeoutMs, limitMs);
    }
  }

  private unregister(namespace: string): void {
    if (this.others().some(({ namespaces }) => namespaces.has(namespace))) return;
    if (processState.namespaces.has(namespace)) SpanRegistry.unregister(namespace);
  }

  private others(): HeldByApplication[] {
    return [...processState.applications].filter((other) => other !== this.held);
  }
}

/** Without a turn before the shutdown begins, so that whoever waited for the end finds it under way. */
async function shutDown(shared: SharedSetUp, timeoutMs: number, limitMs = timeoutMs): Promise<void> {
  processState.shared = undefined;
  const done = shared.handle?.shutdown(timeoutMs, limitMs);
  shared.end();
  await done;
}
