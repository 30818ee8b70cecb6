import { isMainThread } from 'node:worker_threads';
import { emitWarnings, recordWarning, type Warning } from '../core/diagnostics/warnings.js';
import { setEnabledSpanGroups } from '../core/groups/span-group-state.js';
import { processState } from '../core/state/process-state.js';
import type { SharedHandle } from '../core/state/held-by-application.js';
import { isSdkDisabled } from '../core/diagnostics/sdk-disabled.js';
import { resolveConfig } from '../core/telemetry/config-from-env.js';
import { discardEarlySdk, isEarlyFailure } from '../core/telemetry/early-sdk.js';
import { setUpForHost } from '../core/telemetry/setup-telemetry.js';
import { timeLimitOf } from '../core/telemetry/with-timeout.js';
import { type AskedOfTelemetry, askedOf, warnIgnored } from './ignored-options.js';
import { type NestLensModuleOptions, settingsOf } from './nest-lens-options.js';
import type { TelemetryHold } from './telemetry-hold.js';

/** Applications that enable shutdown hooks have done so within this time after the set-up, in milliseconds. */
const HOOKS_ENABLED_WITHIN_MS = 2_000;

/** The set-up of one application: it joins that of another application, or makes one, or keeps every group off. */
export class ApplicationSetUp {
  private hooksTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly hold: TelemetryHold,
    private readonly options: NestLensModuleOptions,
  ) {}

  /** Never throws: if telemetry fails, the application starts with every group off. */
  async run(): Promise<void> {
    try {
      const inForce = (await this.hold.join())?.asked ?? setUpByApplication();
      if (inForce !== undefined) {
        const { setupAt: _, shutdownTimeoutMs: __, autoGroups: ___, ...asked } = askedOf(this.options);
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
    const host = {
      drainLimitMs: timeLimitOf(this.options.shutdownTimeoutMs),
      loadedPackages: ['@nestjs/core', '@nestjs/common'],
    };
    if (config.enabled && !isSdkDisabled()) {
      // Another application that waited for the same failure may have begun a moment ago.
      if (processState.shared !== undefined) return this.run();
      this.checkShutdownHooks(
        await this.hold.make({ ...askedOf(this.options), config }, () =>
          setUpForHost(config, telemetry, host),
        ),
      );
      return;
    }
    await setUpForHost(config, telemetry, host);
    this.hold.pin();
  }

  /** Keeps every group off while this application runs, unless another one sets telemetry up. */
  private pinOff(): void {
    if (processState.telemetry.phase !== 'off') return;
    discardEarlySdk();
    setEnabledSpanGroups([]);
    this.hold.pin();
  }

  /**
   * A server that dies of SIGTERM at once loses spans. The check comes late, because an application may enable the hooks
   * after it listens.
   */
  private checkShutdownHooks({ mode, isExporting }: SharedHandle): void {
    // Node gives signals to the main thread only, so hooks in a worker would change nothing.
    if (!isMainThread || mode !== 'own' || !isExporting || this.hold.isClosing) return;
    this.hooksTimer = setTimeout(() => {
      if (this.hold.isClosing || process.listenerCount('SIGTERM') > 0) return;
      emitOne({ code: 'NO_SHUTDOWN_HOOKS', details: {} });
    }, HOOKS_ENABLED_WITHIN_MS);
    this.hooksTimer.unref();
  }

  stopChecking(): void {
    clearTimeout(this.hooksTimer);
  }
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
