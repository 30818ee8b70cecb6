import { isMainThread } from 'node:worker_threads';
import {
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import type { AbstractHttpAdapter } from '@nestjs/core';
import { isSdkDisabled, resolveConfig } from '../core/telemetry/config-from-env.js';
import { discardEarlySdk, isEarlyFailure } from '../core/telemetry/early-sdk.js';
import { nearestName } from '../core/groups/nearest-name.js';
import { processState } from '../core/state/process-state.js';
import { SpanRegistry } from '../core/groups/span-registry.js';
import { forgetSpanGroupState, setEnabledSpanGroups } from '../core/groups/span-group-state.js';
import { timeLimitOf, withTimeout } from '../core/telemetry/with-timeout.js';
import { setUpForHost } from '../core/telemetry/setup-telemetry.js';
import { emitWarnings, recordWarning, type Warning } from '../core/diagnostics/warnings.js';
import type { LensApp } from './lens-app.js';
import type { NestLensModuleOptions } from './nest-lens-options.js';
import { SharedTelemetry } from './shared-telemetry.js';
import { nameServerSpans } from './span-group/server-span-route.js';

/** The share of the time for closing that one flush ahead of it may take. */
const MAX_AHEAD = 1 / 4;
/** An application that enables shutdown hooks has done so by then, in milliseconds after the set-up. */
const HOOKS_ENABLED_WITHIN_MS = 2_000;

/**
 * What one `forRoot` does in the life of its application: it registers its groups in `onModuleInit`; the first `forRoot` then
 * sets telemetry up in `onApplicationBootstrap`, which Nest calls when every module's `onModuleInit` is done, global modules
 * first, and before it listens; and shuts it down in `onApplicationShutdown`, which it calls on global modules last.
 */
export class TelemetryLifecycle implements OnModuleInit, OnApplicationBootstrap, OnApplicationShutdown {
  /** Nest initialises a container again when it is asked to, as some tests do; telemetry is set up once. */
  private settingUp: Promise<void> | undefined;
  private isStarting = false;
  /** Ends this application's part in telemetry; undefined while it has none. */
  private leave: ((timeoutMs: number) => Promise<void>) | undefined;
  /** The close; Nest 12 calls its hooks again on another one, and on Nest 11 two can overlap. */
  private closing: Promise<void> | undefined;
  private hooksTimer: ReturnType<typeof setTimeout> | undefined;
  /** For how many milliseconds the closing application has waited for telemetry so far. */
  private waitedMs = 0;

  constructor(
    private readonly app: LensApp,
    private readonly options: NestLensModuleOptions,
    private readonly isFirst: boolean,
  ) {
    const logger = new Logger('NestLens');
    processState.defaultLogger = { warn: (message) => logger.warn(message) };
  }

  onModuleInit(): void {
    if (this.closing !== undefined) {
      this.closing = undefined;
      this.settingUp = undefined;
      this.waitedMs = 0;
    }
    this.app.register(this.options.registrations ?? []);
    if (!this.isFirst && hasOwnOptions(this.options)) {
      emitWarnings([{ code: 'OPTIONS_IGNORED', details: { reason: 'second forRoot' } }]);
    }
  }

  /** Called by the module class before Nest registers routes. Where nothing will be traced they stay as they are. */
  beforeRoutes(adapter: AbstractHttpAdapter): void {
    if (this.isFirst && this.isToBeLive()) nameServerSpans(adapter);
  }

  private isToBeLive(): boolean {
    const { config = {}, env = {} } = this.options;
    try {
      return (
        processState.telemetry.phase !== 'off' || (resolveConfig(config, env).enabled && !isSdkDisabled())
      );
    } catch {
      return false; // the set-up will say what is wrong
    }
  }

  /** Called by the module class, whose hook follows those of all its providers. */
  async afterRegistrations(): Promise<void> {
    if (this.options.setupAt === 'init') await this.setUpOnce();
  }

  async onApplicationBootstrap(): Promise<void> {
    if (this.options.setupAt !== 'init') await this.setUpOnce();
    this.app.markStarted();
    if (this.isFirst && processState.setUp) emitWarnings(unknownGroups(this.app));
  }

  async onApplicationShutdown(): Promise<void> {
    if (this.isFirst) await (this.closing ??= this.close());
  }

  private async close(): Promise<void> {
    this.app.flushAhead = () => Promise.resolve();
    try {
      // Closed while it starts: what is being set up is ended as soon as it is there, also when that takes longer. Otherwise
      // without a turn in between, so that an application that starts now finds a set-up that ends.
      if (this.isStarting) await this.spend(withTimeout(this.timeLeft(), Promise.resolve(this.settingUp)));
      await this.end();
    } finally {
      // After the shutdown, which forgets the spec: there is nothing left to warn about.
      this.app.release();
    }
  }

  private async end(): Promise<void> {
    clearTimeout(this.hooksTimer);
    const { leave } = this;
    this.leave = undefined;
    await leave?.(this.timeLeft());
  }

  private async setUpOnce(): Promise<void> {
    // Closed between its hooks.
    if (this.closing !== undefined) return;
    await (this.settingUp ??= this.start());
  }

  private async start(): Promise<void> {
    this.isStarting = true;
    await this.setUp();
    this.isStarting = false;
    if (this.closing !== undefined) await this.end();
  }

  private flushAhead(part: SharedTelemetry): Promise<void> {
    return this.spend(part.flushAhead(Math.min(this.timeLeft(), this.limitMs * MAX_AHEAD)));
  }

  /** Waits for a part of the close, on the account of the limit. */
  private async spend(work: Promise<unknown>): Promise<void> {
    const began = performance.now();
    await work;
    this.waitedMs += performance.now() - began;
  }

  private get limitMs(): number {
    return timeLimitOf(this.options.shutdownTimeoutMs);
  }

  /** How much of the limit is left; it is one for all that telemetry does while the application closes. */
  private timeLeft(): number {
    return Math.max(0, this.limitMs - this.waitedMs);
  }

  /** Whoever serves, and dies of SIGTERM at once, loses spans. Asked late: the hooks may be enabled after listening. */
  private async checkShutdownHooks(): Promise<void> {
    // Node gives signals to the main thread only: hooks in another one would change nothing.
    if (!isMainThread) return;
    const handle = await processState.shared?.ready;
    if (handle?.mode !== 'own' || !handle.isExporting) return;
    this.hooksTimer = setTimeout(() => {
      if (process.listenerCount('SIGTERM') === 0) emitOne({ code: 'NO_SHUTDOWN_HOOKS', details: {} });
    }, HOOKS_ENABLED_WITHIN_MS);
    this.hooksTimer.unref();
  }

  /** Never throws: whatever is wrong with telemetry, the application starts, with every group off. */
  private async setUp(): Promise<void> {
    if (!this.isFirst) return;
    try {
      const joined = await SharedTelemetry.join();
      if (joined !== undefined) {
        this.stay(joined);
        if (hasOwnOptions(this.options)) warnIgnored();
        return;
      }
      if (isSetUpByApplication()) {
        if (hasOwnOptions(this.options)) warnIgnored();
        return;
      }
      await this.setUpOwn();
    } catch (error) {
      const code = (error as { name?: unknown }).name === 'ConfigError' ? 'CONFIG_INVALID' : 'SETUP_FAILED';
      this.pinOff();
      // nest-lens/register has tried before, and has said so.
      (isEarlyFailure(error) ? recordWarning : emitOne)({ code, details: { error } });
    }
  }

  private async setUpOwn(): Promise<void> {
    const { config: explicit = {}, env = {}, telemetry = {} } = this.options;
    const config = resolveConfig(explicit, env);
    const host = { drainLimitMs: this.limitMs, loadedPackages: ['@nestjs/core', '@nestjs/common'] };
    if (config.enabled && !isSdkDisabled()) {
      // Another application that waited for the same failure may have begun a moment ago.
      if (processState.shared !== undefined) return this.setUp();
      this.stay(await SharedTelemetry.make(() => setUpForHost(config, telemetry, host)));
      await this.checkShutdownHooks();
      return;
    }
    await setUpForHost(config, telemetry, host);
    this.holdPin();
  }

  private stay(part: SharedTelemetry): void {
    this.leave = (timeoutMs) => part.leave(timeoutMs, this.limitMs);
    this.app.flushAhead = () => this.flushAhead(part);
  }

  /** Every group stays off while this application runs, unless another one sets telemetry up. */
  private pinOff(): void {
    if (processState.telemetry.phase !== 'off') return;
    discardEarlySdk();
    setEnabledSpanGroups([]);
    this.holdPin();
  }

  /** The last application without telemetry to close lifts the pin. */
  private holdPin(): void {
    processState.pinHolders++;
    this.leave = () => {
      processState.pinHolders--;
      const { pinHolders, pinned, telemetry } = processState;
      if (pinHolders === 0 && pinned && telemetry.phase === 'off') forgetSpanGroupState();
      return Promise.resolve();
    };
  }
}

/** Whether the application called `setupTelemetry` itself; it shuts it down itself, then. */
function isSetUpByApplication(): boolean {
  const { telemetry, shared } = processState;
  return shared === undefined && (telemetry.phase === 'live' || telemetry.phase === 'starting');
}

function emitOne(warning: Warning): void {
  emitWarnings([warning]);
}

function warnIgnored(): void {
  emitWarnings([{ code: 'OPTIONS_IGNORED', details: { reason: 'second app' } }]);
}

/** Whether options say anything about telemetry, besides registrations and the route. */
function hasOwnOptions({
  config,
  env,
  telemetry,
  setupAt,
  shutdownTimeoutMs,
}: NestLensModuleOptions): boolean {
  return [config, env, telemetry, setupAt, shutdownTimeoutMs].some((option) => option !== undefined);
}

/** Decorated methods whose group nobody has registered: they can never be on. Sorted by site. */
function unknownGroups(app: LensApp): Warning[] {
  const registered = SpanRegistry.groups();
  // Every site has its gate. Measured: looking at the methods of a thousand controllers takes 3 ms of a boot.
  if ([...processState.gates.keys()].every((group) => registered.has(group))) return [];
  const nearest = new Map<string, string | undefined>();
  return [...app.sites.outside(registered)]
    .sort((a, b) => (a.site < b.site ? -1 : a.site > b.site ? 1 : 0))
    .map(({ site, group }) => {
      if (!nearest.has(group)) nearest.set(group, nearestName(group, registered));
      return { code: 'UNKNOWN_GROUP_AT_SITE', details: { site, group, nearest: nearest.get(group) } };
    });
}
