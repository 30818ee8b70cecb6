import { isMainThread } from 'node:worker_threads';
import { Logger, type OnApplicationBootstrap, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import type { AbstractHttpAdapter, HttpAdapterHost } from '@nestjs/core';
import { isSdkDisabled, resolveConfig } from '../core/telemetry/config-from-env.js';
import { discardEarlySdk, isEarlyFailure } from '../core/telemetry/early-sdk.js';
import { beginBoot, endBoot } from '../core/groups/boot-registrations.js';
import { beginCountingCalls, endCountingCalls, type MissedCalls } from '../core/groups/missed-calls.js';
import { judgeAllowedGroups } from '../core/opt-in/allowed-groups.js';
import { processState } from '../core/state/process-state.js';
import { isSetUpSuperseded } from '../core/state/superseded-set-up.js';
import type { SharedHandle } from '../core/state/held-by-application.js';
import { readDefinitions } from '../core/groups/span-group-definition.js';
import { setEnabledSpanGroups } from '../core/groups/span-group-state.js';
import { timeLimitOf } from '../core/telemetry/with-timeout.js';
import { setUpForHost } from '../core/telemetry/setup-telemetry.js';
import { emitWarnings, recordWarning, type Warning } from '../core/diagnostics/warnings.js';
import { renewAutoRegistration } from './auto-groups/auto-registration.js';
import { reportHandlersTracedTwice, reportMissedCalls, unknownGroups } from './boot-report.js';
import { keepTracesOfApp } from './keep-traces-of-app.js';
import { type AskedOfTelemetry, ignoredOptions } from './ignored-options.js';
import type { LensApp } from './lens-app.js';
import { type NestLensModuleOptions, settingsOf } from './nest-lens-options.js';
import { readOptInHeaders } from './requests-opted-in.js';
import { nameServerSpans } from './span-group/name-server-spans.js';

/** Applications that enable shutdown hooks have done so within this time after the set-up, in milliseconds. */
const HOOKS_ENABLED_WITHIN_MS = 2_000;
/** Applications are initialised within this time after they were made, in milliseconds. */
const INITIALISED_WITHIN_MS = 10_000;

/**
 * Does the start-up work of one `forRoot`. In `onModuleInit` it registers its groups. In `onApplicationBootstrap`, the first
 * `forRoot` sets telemetry up. Nest calls that when the `onModuleInit` of every module is done, global modules first, and
 * before it listens.
 */
export class TelemetryLifecycle implements OnModuleInit, OnApplicationBootstrap, OnModuleDestroy {
  private hooksTimer: ReturnType<typeof setTimeout> | undefined;
  private countingTimer: ReturnType<typeof setInterval> | undefined;
  private stopReadingHeaders: (() => void) | undefined;

  constructor(
    private readonly app: LensApp,
    private readonly options: NestLensModuleOptions,
    private readonly isFirst: boolean,
    private readonly http: HttpAdapterHost,
  ) {
    const logger = new Logger('NestLens');
    processState.defaultLogger = {
      warn: (message) => logger.warn(message),
      info: (message) => logger.log(message),
    };
    if (isFirst) {
      app.hold.limitMs = this.limitMs;
      app.record.asked = this.asked();
    }
    // Nest calls no hooks of a module that is loaded lazily.
    if (app.record.hooksHaveBegun) {
      this.onModuleInit();
      return;
    }
    beginBoot();
    // This comes before the application registers routes of its own.
    this.nameServerSpans();
    if (isFirst && processState.telemetry.phase === 'off' && this.isToBeLive()) this.countCalls();
  }

  onModuleInit(): void {
    const { app, options } = this;
    const definitions = readDefinitions(options.registrations ?? [], 'NestLensModule');
    for (const definition of definitions) app.hold.register(definition);
    if (this.isFirst) {
      app.registerAutoGroups();
      app.gateGlobalEnhancers();
    } else warnIgnored('second forRoot', this.asked(), app.record.asked ?? {});
  }

  /** The telemetry options. All other options count in each application and in each `forRoot`. */
  private asked(): AskedOfTelemetry {
    const { registrations: _, introspection: __, ...asked } = this.options;
    return asked;
  }

  /** Counts calls until the set-up. An application with microservices alone may never be initialised. */
  private countCalls(): void {
    beginCountingCalls();
    this.countingTimer = setInterval(() => {
      if (this.app.record.hooksHaveBegun || !processState.missedCalls?.size) return;
      reportMissedCalls(this.stopCounting(), false);
    }, INITIALISED_WITHIN_MS).unref();
  }

  private stopCounting(): MissedCalls[] {
    if (this.countingTimer === undefined) return [];
    clearInterval(this.countingTimer);
    this.countingTimer = undefined;
    return endCountingCalls();
  }

  /** Called by the module class before Nest registers routes. */
  beforeRoutes(): void {
    this.app.gateGlobalEnhancers();
    this.nameServerSpans();
  }

  /** If nothing will be traced, server spans stay as they are. */
  private nameServerSpans(): void {
    const { adapter } = this;
    if (adapter !== undefined && this.isFirst && this.isToBeLive()) nameServerSpans(adapter);
  }

  /** A test makes the adapter after the providers. Without HTTP it is null. */
  private get adapter(): AbstractHttpAdapter | undefined {
    return (this.http.httpAdapter as AbstractHttpAdapter | null | undefined) ?? undefined;
  }

  private readOptInHeaders(): void {
    const { adapter } = this;
    if (adapter === undefined || processState.requestOptIn === undefined) return;
    this.stopReadingHeaders?.();
    this.stopReadingHeaders = readOptInHeaders(adapter);
  }

  private isToBeLive(): boolean {
    const { config = {}, env = {} } = this.options;
    try {
      return (
        processState.telemetry.phase !== 'off' || (resolveConfig(config, env).enabled && !isSdkDisabled())
      );
    } catch {
      return false; // The set-up will report the error.
    }
  }

  /** Called by the module class, whose hook runs after those of all its providers. */
  async afterRegistrations(): Promise<void> {
    if (this.options.setupAt === 'init') await holdUpUnlessWaiting(() => this.setUpOnce());
  }

  async onApplicationBootstrap(): Promise<void> {
    // Other modules have registered since.
    renewAutoRegistration();
    endBoot();
    if (!this.isFirst) return;
    await holdUpUnlessWaiting(() => this.setUpOnce().then(() => this.reportUnknownGroups()));
  }

  onModuleDestroy(): void {
    clearTimeout(this.hooksTimer);
    this.stopReadingHeaders?.();
    this.stopCounting();
  }

  private async setUpOnce(): Promise<void> {
    if (!this.isFirst) return;
    const missed = this.stopCounting();
    await this.app.hold.setUp(() => this.setUp());
    if (processState.setUp) reportHandlersTracedTwice(this.options.telemetry?.instrumentations?.flat() ?? []);
    this.readOptInHeaders();
    keepTracesOfApp(this.app);
    reportMissedCalls(
      missed.filter(({ group }) => processState.enabled.has(group)),
      true,
    );
  }

  private reportUnknownGroups(): void {
    if (!processState.setUp) return;
    emitWarnings(unknownGroups(this.app.sites));
    judgeAllowedGroups();
  }

  private get limitMs(): number {
    return timeLimitOf(this.options.shutdownTimeoutMs);
  }

  /**
   * A server that dies of SIGTERM at once loses spans. The check comes late, because an application may enable the hooks
   * after it listens.
   */
  private checkShutdownHooks({ mode, isExporting }: SharedHandle): void {
    // Node gives signals to the main thread only, so hooks in a worker would change nothing.
    if (!isMainThread || mode !== 'own' || !isExporting || this.app.hold.isClosing) return;
    this.hooksTimer = setTimeout(() => {
      if (this.app.hold.isClosing || process.listenerCount('SIGTERM') > 0) return;
      emitOne({ code: 'NO_SHUTDOWN_HOOKS', details: {} });
    }, HOOKS_ENABLED_WITHIN_MS);
    this.hooksTimer.unref();
  }

  /** Never throws: if telemetry fails, the application starts with every group off. */
  private async setUp(): Promise<void> {
    try {
      const inForce = (await this.app.hold.join())?.asked ?? setUpByApplication();
      if (inForce !== undefined) {
        const { setupAt: _, shutdownTimeoutMs: __, autoGroups: ___, ...asked } = this.asked();
        warnIgnored('second app', asked, inForce);
        return;
      }
      await this.setUpOwn();
    } catch (error) {
      const code = (error as { name?: unknown }).name === 'ConfigError' ? 'CONFIG_INVALID' : 'SETUP_FAILED';
      this.pinOff();
      // nest-lens/register has failed for the same reason and has reported it.
      (isEarlyFailure(error) ? recordWarning : emitOne)({ code, details: { error } });
    }
  }

  private async setUpOwn(): Promise<void> {
    const { config: explicit, telemetry } = settingsOf(this.options);
    const config = resolveConfig(explicit, this.options.env);
    const host = { drainLimitMs: this.limitMs, loadedPackages: ['@nestjs/core', '@nestjs/common'] };
    if (config.enabled && !isSdkDisabled()) {
      // Another application that waited for the same failure may have begun a moment ago.
      if (processState.shared !== undefined) return this.setUp();
      this.checkShutdownHooks(
        await this.app.hold.make({ ...this.asked(), config }, () => setUpForHost(config, telemetry, host)),
      );
      return;
    }
    await setUpForHost(config, telemetry, host);
    this.app.hold.pin();
  }

  /** Keeps every group off while this application runs, unless another one sets telemetry up. */
  private pinOff(): void {
    if (processState.telemetry.phase !== 'off') return;
    discardEarlySdk();
    setEnabledSpanGroups([]);
    this.app.hold.pin();
  }
}

/** The set-up waits for the close and the shutdown of the application before. The start of this one doesn't. */
async function holdUpUnlessWaiting(setUp: () => Promise<void>): Promise<void> {
  const isSuperseding = isSetUpSuperseded();
  const ready = setUp();
  if (!isSuperseding && processState.telemetry.stopped === undefined) await ready;
}

/** The known options of a set-up that the application has made by `setupTelemetry`; the application also shuts it down. */
function setUpByApplication(): AskedOfTelemetry | undefined {
  const { telemetry, shared } = processState;
  if (shared !== undefined || (telemetry.phase !== 'live' && telemetry.phase !== 'starting'))
    return undefined;
  return { config: { enabled: true, spanGroups: telemetry.configuredSpec } };
}

function emitOne(warning: Warning): void {
  emitWarnings([warning]);
}

function warnIgnored(
  reason: 'second app' | 'second forRoot',
  asked: AskedOfTelemetry,
  inForce: AskedOfTelemetry,
): void {
  const options = ignoredOptions(asked, inForce);
  if (options.length > 0) emitOne({ code: 'OPTIONS_IGNORED', details: { reason, options } });
}
