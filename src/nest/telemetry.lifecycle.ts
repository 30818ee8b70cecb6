import {
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { isSdkDisabled, resolveConfig } from '../core/config.js';
import { nearestName } from '../core/nearest-name.js';
import { processState } from '../core/process-state.js';
import { setEnabledSpanGroups } from '../core/span-group-state.js';
import { setupTelemetry } from '../core/telemetry.js';
import { emitWarnings, recordWarning, type Warning } from '../core/warnings.js';
import type { LensApp } from './lens-app.js';
import type { NestLensModuleOptions } from './nest-lens-options.js';
import { joinTelemetry, leaveTelemetry } from './shared-telemetry.js';

/**
 * What one `forRoot` does in the life of its application: it registers its groups in `onModuleInit`; the first `forRoot` then
 * sets telemetry up in `onApplicationBootstrap`, which Nest calls when every module's `onModuleInit` is done, global modules
 * first, and before it listens; and shuts it down in `onApplicationShutdown`, which it calls on global modules last.
 */
export class TelemetryLifecycle implements OnModuleInit, OnApplicationBootstrap, OnApplicationShutdown {
  private joined = false;

  constructor(
    private readonly app: LensApp,
    private readonly options: NestLensModuleOptions,
    private readonly isFirst: boolean,
  ) {
    const logger = new Logger('NestLens');
    processState.defaultLogger = { warn: (message) => logger.warn(message) };
  }

  onModuleInit(): void {
    this.app.register(this.options.registrations ?? []);
    if (!this.isFirst && hasOwnOptions(this.options)) {
      emitWarnings([{ code: 'OPTIONS_IGNORED', details: { reason: 'second forRoot' } }]);
    }
  }

  /** Called by the module class, whose hook follows those of all its providers. */
  async afterRegistrations(): Promise<void> {
    if (this.options.setupAt === 'init') await this.setUp();
  }

  async onApplicationBootstrap(): Promise<void> {
    if (this.options.setupAt !== 'init') await this.setUp();
    if (this.isFirst && processState.setUp) emitWarnings(unknownGroups(this.app));
  }

  async onApplicationShutdown(): Promise<void> {
    if (!this.isFirst) return;
    if (this.joined) await leaveTelemetry(this.options.shutdownTimeoutMs);
    // After the shutdown, which forgets the spec: there is nothing left to warn about.
    this.app.releaseRegistrations();
  }

  /** Never throws: whatever is wrong with telemetry, the application starts, with every group off. */
  private async setUp(): Promise<void> {
    if (!this.isFirst) return;
    const { config: explicit = {}, env = {}, telemetry = {} } = this.options;
    try {
      const config = resolveConfig(explicit, env);
      const isShared = processState.shared !== undefined || (config.enabled && !isSdkDisabled());
      if (!isShared) {
        await setupTelemetry(config, telemetry);
        return;
      }
      const wasThere = await joinTelemetry(() => setupTelemetry(config, telemetry));
      this.joined = true;
      if (wasThere && hasOwnOptions(this.options)) warnIgnored();
    } catch (error) {
      if ((error as { code?: unknown }).code === 'TELEMETRY_ALREADY_SET_UP') {
        // The application called setupTelemetry itself, and shuts it down itself.
        warnIgnored();
        return;
      }
      const code = (error as { name?: unknown }).name === 'ConfigError' ? 'CONFIG_INVALID' : 'SETUP_FAILED';
      if (processState.telemetry.phase === 'off') setEnabledSpanGroups([]);
      // nest-lens/register has tried before, and has said so.
      const isKnown = processState.earlyFailure === (error as Error | undefined)?.message;
      (isKnown ? recordWarning : emitOne)({ code, details: { error } });
    }
  }
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

/** Decorated methods whose group nobody has registered: they can never be on. */
function unknownGroups(app: LensApp): Warning[] {
  const registered = processState.groupOwners;
  return app.sites
    .list()
    .filter(({ group }) => !registered.has(group))
    .map(({ name, group }) => ({
      code: 'UNKNOWN_GROUP_AT_SITE',
      details: { site: name, group, nearest: nearestName(group, registered.keys()) },
    }));
}
