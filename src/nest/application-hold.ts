import { isSameRegistration, type ReadDefinition } from '../core/groups/span-group-definition.js';
import { registerDefinition, SpanRegistry } from '../core/groups/span-registry.js';
import { processState } from '../core/state/process-state.js';
import type { HeldByApplication } from '../core/state/held-by-application.js';
import { renewAutoRegistration } from './auto-groups/auto-registration.js';
import { DEFAULT_TIMEOUT_MS, withTimeout } from '../core/telemetry/with-timeout.js';
import { othersThan, TelemetryHold } from './telemetry-hold.js';

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
 * One application's hold on the process: its namespaces, and its hold on telemetry. Things that several applications hold are
 * released with the last of them.
 */
export class ApplicationHold {
  readonly telemetry: TelemetryHold;

  constructor(private readonly held: HeldByApplication) {
    this.telemetry = new TelemetryHold(held);
  }

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
    if (this.held.released !== undefined) await this.telemetry.leave(this.held.limitMs);
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
      await this.telemetry.leave(Math.max(0, held.limitMs - (performance.now() - began)));
    } finally {
      // This comes after the shutdown, which forgets the spec, so there is nothing to warn about.
      for (const namespace of held.namespaces) this.unregister(namespace);
      held.namespaces.clear();
      processState.applications.delete(held);
      renewAutoRegistration();
    }
  }

  private unregister(namespace: string): void {
    if (othersThan(this.held).some(({ namespaces }) => namespaces.has(namespace))) return;
    if (processState.namespaces.has(namespace)) SpanRegistry.unregister(namespace);
  }
}
