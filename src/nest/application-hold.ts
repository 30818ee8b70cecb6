import { isSameRegistration, type ReadDefinition } from '../core/groups/span-group-definition.js';
import { forgetSpanGroupState } from '../core/groups/span-group-state.js';
import { registerDefinition, SpanRegistry } from '../core/groups/span-registry.js';
import { processState } from '../core/state/process-state.js';
import { isSetUpSuperseded } from '../core/state/superseded-set-up.js';
import type { HeldByApplication, SharedHandle, SharedSetUp } from '../core/state/held-by-application.js';
import { renewAutoRegistration } from './auto-groups/auto-registration.js';
import type { AskedOfTelemetry } from './ignored-options.js';
import { DEFAULT_TIMEOUT_MS, withTimeout } from '../core/telemetry/with-timeout.js';

/** The hold of an application that has just begun. */
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
 * One application's hold on the process: its namespaces, and the set-up that it uses or the pin that keeps every group off.
 * Things that several applications hold are released with the last of them. An application that is closing doesn't count for
 * one that starts.
 */
export class ApplicationHold {
  constructor(private readonly held: HeldByApplication) {}

  get isClosing(): boolean {
    return this.held.isClosing;
  }

  /** The longest time that the application waits at the end of its close, in milliseconds. */
  set limitMs(limitMs: number) {
    this.held.limitMs = limitMs;
  }

  /**
   * Registers a definition. Several applications, or a module that is imported twice, may register the same content. A
   * registration by other means isn't held, so it stays after the close.
   *
   * @throws SpanRegistryError if the namespace has other content, unless the definition allows overriding
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

  /** Does the set-up once. A close during the set-up waits for it. */
  async setUp(work: () => Promise<void>): Promise<void> {
    if (this.held.isClosing) return;
    await (this.held.settingUp ??= this.doSetUp(work));
  }

  private async doSetUp(work: () => Promise<void>): Promise<void> {
    await work();
    this.held.isSetUp = true;
    // The close has stopped waiting, so the set-up is released here.
    if (this.held.released !== undefined) await this.leaveTelemetry(this.held.limitMs);
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
    const users = this.others().filter(({ telemetry }) => telemetry === shared);
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

  /** From now on, an application that starts takes the place of this one. */
  beginToClose(): void {
    this.held.isClosing = true;
  }

  /** Releases everything. If no other application uses the set-up, it is shut down and waited for. */
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
      // This comes after the shutdown, which forgets the spec, so there is nothing to warn about.
      for (const namespace of held.namespaces) this.unregister(namespace);
      held.namespaces.clear();
      processState.applications.delete(held);
      renewAutoRegistration();
    }
  }

  /**
   * The last application shuts down, in the same turn, because an application that starts now has to find the shutdown under
   * way.
   */
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

/** The shutdown begins in the same turn, so that applications that waited for the end find it under way. */
async function shutDown(shared: SharedSetUp, timeoutMs: number, limitMs = timeoutMs): Promise<void> {
  processState.shared = undefined;
  const done = shared.handle?.shutdown(timeoutMs, limitMs);
  shared.end();
  await done;
}
