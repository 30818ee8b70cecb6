import { processState } from '../state/process-state.js';
import type { EarlySdk, InstrumentationLike } from '../state/early-start-state.js';
import type { Pipeline } from '../state/telemetry-state.js';
import { type NestLensConfig, originOf } from './config.js';
import { shutDownPipeline } from './shut-down-pipeline.js';
import { onBeforeExit } from './on-before-exit.js';
import { registeredTracerProvider } from './otel-globals.js';
import { DEFAULT_TIMEOUT_MS } from './with-timeout.js';

/*
 * Keeps the SDK that `nest-lens/register` has started before the application, until a set-up takes it over. All other code
 * asks this file. Without an early start, there would be no spans of HTTP, databases and frameworks in ES modules, or in
 * modules that load before NestLens.
 */

/** The part of a configuration that a running SDK can't take any more, except for the run's id. */
function settingsOf({
  exporter,
  tracesEnabled,
  metricsEnabled,
  serviceName,
  userId,
}: NestLensConfig): string {
  return JSON.stringify({ exporter, tracesEnabled, metricsEnabled, serviceName, userId });
}

/** Whether this process has tried an early start, successful or not. */
export function hasStartedEarly(): boolean {
  const { sdk, failure } = processState.early;
  return sdk !== undefined || failure !== undefined;
}

/** Keeps an SDK that was started early for the set-up. If no set-up comes, it ends with the process. */
export function keepEarlySdk(
  sdk: Pipeline,
  config: NestLensConfig,
  instrumentations: readonly InstrumentationLike[],
): void {
  const stopWaiting = onBeforeExit(() => {
    processState.early.sdk = undefined;
    void shutDownPipeline(sdk, DEFAULT_TIMEOUT_MS);
  });
  processState.early.instrumentations = instrumentations;
  processState.early.sdk = {
    ...sdk,
    settings: settingsOf(config),
    runId: config.runId,
    // The provider is the SDK's own: it wouldn't have been started beside another one.
    hasTracerProvider: registeredTracerProvider() !== undefined,
    take: stopWaiting,
  };
}

/** Takes the SDK that was started early, if there is one. The caller has to end it. */
export function takeEarlySdk(): EarlySdk | undefined {
  const { sdk } = processState.early;
  processState.early.sdk = undefined;
  sdk?.take();
  return sdk;
}

/**
 * Ends the SDK that was started early, unless a set-up has taken it over. The environment wanted telemetry and the
 * application doesn't, so the application wins. Its globals are removed at once; its shutdown isn't awaited, and failures
 * aren't reported.
 */
export function discardEarlySdk(): void {
  const sdk = takeEarlySdk();
  if (sdk === undefined) return;
  const ended = (async () => sdk.shutdown())();
  ended.catch(() => undefined);
  sdk.release();
}

/** Whether a set-up asks for other settings than those that the SDK was started with. */
export function differsFromEarly(sdk: EarlySdk, config: NestLensConfig): boolean {
  const isOtherRun = originOf(config, 'runId') !== 'default' && sdk.runId !== config.runId;
  return isOtherRun || sdk.settings !== settingsOf(config);
}

/**
 * The instrumentations of a set-up: the given ones, and those that were started before the application unless the given ones
 * include them.
 */
export function withEarlyInstrumentations(given: readonly InstrumentationLike[]): InstrumentationLike[] {
  const names = new Set(given.map(({ instrumentationName }) => instrumentationName));
  const { instrumentations: early } = processState.early;
  return [...early.filter(({ instrumentationName }) => !names.has(instrumentationName)), ...given];
}

/** Remembers the error of a failed early start, so that a set-up that fails for the same reason doesn't repeat it. */
export function rememberEarlyFailure(error: unknown): void {
  processState.early.failure = messageOf(error);
}

/** Whether the early start has failed, and reported it, for the same reason. */
export function isEarlyFailure(error: unknown): boolean {
  return processState.early.failure === messageOf(error);
}

function messageOf(error: unknown): string {
  return String((error as { message?: unknown } | null | undefined)?.message);
}
