import { createError, TelemetryAlreadySetUpError } from '../diagnostics/errors.js';
import { recordWarning, reportForeignState } from '../diagnostics/warnings.js';
import { forgetSpanGroupState, setEnabledSpanGroups } from '../groups/span-group-state.js';
import { judgeAllowedGroups } from '../opt-in/allowed-groups.js';
import { processState } from '../state/process-state.js';
import { type NestLensConfig, validateConfig } from './config.js';
import { checkSetupOptions } from './check-setup-options.js';
import { isSdkDisabled } from '../diagnostics/sdk-disabled.js';
import { discardEarlySdk } from './early-sdk.js';
import { buildPipeline, NOTHING } from './build-pipeline.js';
import { warnOfSpecWithoutEnabled } from './environment-warnings.js';
import { goLive, rememberSpec } from './go-live.js';
import type { SetupOptions } from './setup-options.js';
import type { SpecWatch } from '../sources/spec-watch.js';
import { type ClosingHandle, createHandle, type TelemetryHandle } from './telemetry-handle.js';
import { watchSource } from './watched-source.js';
import { DEFAULT_TIMEOUT_MS, withTimeout } from './with-timeout.js';

/** A set-up waits this long, in milliseconds, for the first spec of a source, so that the first requests obey it. */
const FIRST_SPEC_MS = 500;

/**
 * Sets telemetry up, once per process: builds the providers (or attaches to the one that the application registered), then
 * puts the configured spec in force. Libraries that register later still take effect.
 *
 * With `config.enabled` false, or `OTEL_SDK_DISABLED=true`, nothing is built or loaded, and every group is pinned off.
 *
 * @param config see {@link NestLensConfig}; `nestLensConfigFromEnv()` reads it from the environment
 * @param options exporters, processors, readers and instrumentations of your own; see {@link SetupOptions}
 * @throws (rejects) TelemetryAlreadySetUpError when an enabled set-up is live; ConfigError for an invalid config; TypeError
 * for options of a wrong type; NestLensError `SDK_NOT_FOUND` when `@opentelemetry/sdk-node` is missing; all errors of the
 * SDK. Then nothing is left registered. If the SDK has already got an exporter, processors or a reader of `options`, they are
 * shut down; in the first four cases it hasn't.
 *
 * @example
 * const handle = await setupTelemetry(nestLensConfigFromEnv());
 * try {
 *   await main();
 * } finally {
 *   await handle.shutdown();
 * }
 */
export async function setupTelemetry(
  config: NestLensConfig,
  options: SetupOptions = {},
): Promise<TelemetryHandle> {
  const handle = await setUpForHost(config, options, {
    drainLimitMs: DEFAULT_TIMEOUT_MS,
    loadedPackages: [],
  });
  judgeAllowedGroups();
  return handle;
}

/** What a framework knows that sets telemetry up for its application. */
export interface SetUpHost {
  /** The longest time, in milliseconds, that the end of an idle process is delayed for the last export. */
  readonly drainLimitMs: number;
  /** Packages that are loaded. Node's list of CommonJS modules may lack them. */
  readonly loadedPackages: readonly string[];
}

/** `setupTelemetry`, for a framework. */
export async function setUpForHost(
  config: NestLensConfig,
  options: SetupOptions,
  { drainLimitMs, loadedPackages }: SetUpHost,
): Promise<ClosingHandle> {
  reportForeignState();
  const valid = validateOrEndEarly(config, options);
  if (!valid.enabled || isSdkDisabled()) {
    stayOff(valid);
    return createHandle({ pipeline: NOTHING, mode: null, drainLimitMs, forget: liftPin });
  }
  const stopped = claimProcess();
  let source: SpecWatch | undefined;
  try {
    await stopped;
    source = watchSource(valid, options);
    const built = await buildPipeline(valid, options, loadedPackages);
    if (source !== undefined) await withTimeout(FIRST_SPEC_MS, source.firstWord);
    return await goLive(valid, options, { ...built, source }, drainLimitMs);
  } catch (error) {
    source?.stop();
    // The failed start may have begun a shutdown.
    await processState.telemetry.stopped;
    processState.telemetry.phase = 'off';
    throw error;
  }
}

/** If the input is invalid, telemetry stays off, and an SDK that was started early ends. */
function validateOrEndEarly(config: NestLensConfig, options: SetupOptions): NestLensConfig {
  try {
    checkSetupOptions('setupTelemetry: options', options);
    return validateConfig(config);
  } catch (error) {
    discardEarlySdk();
    throw error;
  }
}

/** Does a disabled set-up: pins every group off and builds nothing. */
function stayOff(config: NestLensConfig): void {
  if (config.enabled) recordWarning({ code: 'SDK_DISABLED', details: {} });
  else warnOfSpecWithoutEnabled(config);
  setEnabledSpanGroups([]);
  discardEarlySdk();
  if (processState.telemetry.phase === 'off') rememberSpec(config);
}

function liftPin(): void {
  if (processState.telemetry.phase === 'off') forgetSpanGroupState();
}

/**
 * Only one set-up of a process is live.
 *
 * @returns a promise that settles when the shutdown of the one before is done
 */
function claimProcess(): Promise<void> | undefined {
  const { telemetry } = processState;
  if (telemetry.phase === 'starting' || telemetry.phase === 'live') {
    throw createError(TelemetryAlreadySetUpError, 'TELEMETRY_ALREADY_SET_UP');
  }
  telemetry.phase = 'starting';
  return telemetry.stopped;
}
