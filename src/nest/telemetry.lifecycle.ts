import { Logger, type OnApplicationBootstrap, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import type { AbstractHttpAdapter, HttpAdapterHost } from '@nestjs/core';
import { isSdkDisabled } from '../core/diagnostics/sdk-disabled.js';
import { resolveConfig } from '../core/telemetry/config-from-env.js';
import { endBoot } from '../core/groups/boot-registrations.js';
import { beginCountingCalls, endCountingCalls, type MissedCalls } from '../core/groups/missed-calls.js';
import { judgeAllowedGroups } from '../core/opt-in/allowed-groups.js';
import { processState } from '../core/state/process-state.js';
import { isSetUpSuperseded } from '../core/state/superseded-set-up.js';
import { readDefinitions } from '../core/groups/span-group-definition.js';
import { timeLimitOf } from '../core/telemetry/with-timeout.js';
import { emitWarnings } from '../core/diagnostics/warnings.js';
import { renewAutoRegistration } from './auto-groups/auto-registration.js';
import { reportHandlersTracedTwice, reportMissedCalls, unknownGroups } from './boot-report.js';
import { keepTracesOfApp } from './keep-traces-of-app.js';
import { ApplicationSetUp } from './application-set-up.js';
import { askedOf, warnIgnored } from './ignored-options.js';
import type { LensApp } from './lens-app.js';
import type { NestLensModuleOptions } from './nest-lens-options.js';
import { readOptInHeaders } from './requests-opted-in.js';
import { nameServerSpans } from './span-group/name-server-spans.js';

/** Applications are initialised within this time after they were made, in milliseconds. */
const INITIALISED_WITHIN_MS = 10_000;

/**
 * Does the start-up work of one `forRoot`. In `onModuleInit` it registers its groups. In `onApplicationBootstrap`, the first
 * `forRoot` sets telemetry up. Nest calls that when the `onModuleInit` of every module is done, global modules first, and
 * before it listens. The close of an application, after SIGTERM for example, is in `start-and-close-hooks`.
 */
export class TelemetryLifecycle implements OnModuleInit, OnApplicationBootstrap, OnModuleDestroy {
  private readonly setUp: ApplicationSetUp;
  private countingTimer: ReturnType<typeof setInterval> | undefined;
  private stopReadingHeaders: (() => void) | undefined;

  constructor(
    private readonly app: LensApp,
    private readonly options: NestLensModuleOptions,
    private readonly isFirst: boolean,
    private readonly http: HttpAdapterHost,
  ) {
    this.setUp = new ApplicationSetUp(app.hold.telemetry, options);
    const logger = new Logger('NestLens');
    processState.defaultLogger = {
      warn: (message) => logger.warn(message),
      info: (message) => logger.log(message),
    };
    if (isFirst) {
      app.hold.limitMs = timeLimitOf(options.shutdownTimeoutMs);
      app.record.asked = askedOf(options);
    }
    // Nest calls no hooks of a module that is loaded lazily.
    if (app.record.hooksHaveBegun) {
      this.onModuleInit();
      return;
    }
    app.beginBoot();
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
    } else warnIgnored('second forRoot', askedOf(options), app.record.asked ?? {});
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
    this.app.gateAgain();
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
    this.setUp.stopChecking();
    this.stopReadingHeaders?.();
    this.stopCounting();
  }

  private async setUpOnce(): Promise<void> {
    if (!this.isFirst) return;
    const missed = this.stopCounting();
    await this.app.hold.setUp(() => this.setUp.run());
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
}

/** The set-up waits for the close and the shutdown of the application before. The start of this one doesn't. */
async function holdUpUnlessWaiting(setUp: () => Promise<void>): Promise<void> {
  const isSuperseding = isSetUpSuperseded();
  const ready = setUp();
  if (!isSuperseding && processState.telemetry.stopped === undefined) await ready;
}
