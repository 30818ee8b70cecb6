import { truncateThen } from '../spans/in-flight-span.js';
import { processState } from '../state/process-state.js';
import type { EarlySdk, InstrumentationLike, Pipeline } from '../state/state-shape.js';
import { type NestLensConfig, originOf } from './config.js';
import { onBeforeExit } from './on-before-exit.js';
import { registeredTracerProvider } from './otel-globals.js';
import { DEFAULT_TIMEOUT_MS, settleWithin } from './with-timeout.js';

/*
 * What `nest-lens/register` has started before the application: kept here until a set-up takes it over. Everybody else asks
 * this file. Missed by whoever wants spans of HTTP, databases and frameworks from an ES module, or from what loads before
 * NestLens: nearly everybody.
 */

/** The part of a configuration that a running SDK can't be told any more, but for the run's id. */
function settingsOf({
  exporter,
  tracesEnabled,
  metricsEnabled,
  serviceName,
  userId,
}: NestLensConfig): string {
  return JSON.stringify({ exporter, tracesEnabled, metricsEnabled, serviceName, userId });
}

/** Whether an early start has been made in this process, whatever became of it. */
export function hasStartedEarly(): boolean {
  const { sdk, failure } = processState.early;
  return sdk !== undefined || failure !== undefined;
}

/** Keeps an SDK that was started early for the set-up to come; if none comes, it ends with the process. */
export function keepEarlySdk(
  sdk: Pipeline,
  config: NestLensConfig,
  instrumentations: readonly InstrumentationLike[],
): void {
  const stopWaiting = onBeforeExit(() => {
    processState.early.sdk = undefined;
    void endWithProcess(sdk);
  });
  processState.early.instrumentations = instrumentations;
  processState.early.sdk = {
    ...sdk,
    settings: settingsOf(config),
    runId: config.runId,
    // Nobody else's: it wouldn't have been started beside one.
    hasTracerProvider: registeredTracerProvider() !== undefined,
    take: stopWaiting,
  };
}

/** As the shutdown of a set-up does it: spans that are open are rescued, the limit is kept, a failure is said once. */
async function endWithProcess(sdk: Pipeline): Promise<void> {
  const steps = [() => sdk.flushSpans(), () => sdk.shutdown()];
  await settleWithin(
    DEFAULT_TIMEOUT_MS,
    steps.map((step) => () => truncateThen(step)),
  );
  sdk.release();
}

/** Takes the SDK that was started early, if there is one; from then on whoever took it ends it. */
export function takeEarlySdk(): EarlySdk | undefined {
  const { sdk } = processState.early;
  processState.early.sdk = undefined;
  sdk?.take();
  return sdk;
}

/**
 * Ends the SDK that was started early, unless a set-up has taken it over: the environment wanted telemetry and the
 * application doesn't, whose word counts. It is out of the way at once. Nobody waits for what it still has to say, or wants
 * to know whether that arrives.
 */
export function discardEarlySdk(): void {
  const sdk = takeEarlySdk();
  if (sdk === undefined) return;
  const ended = (async () => sdk.shutdown())();
  ended.catch(() => undefined);
  sdk.release();
}

/** Whether a set-up asks for something else than what the SDK was started with. */
export function differsFromEarly(sdk: EarlySdk, config: NestLensConfig): boolean {
  const isOtherRun = originOf(config, 'runId') !== 'default' && sdk.runId !== config.runId;
  return isOtherRun || sdk.settings !== settingsOf(config);
}

/** What a set-up uses: what it is given, and what was started before the application, unless it brings the same. */
export function withEarlyInstrumentations(given: readonly InstrumentationLike[]): InstrumentationLike[] {
  const names = new Set(given.map(({ instrumentationName }) => instrumentationName));
  const { instrumentations: early } = processState.early;
  return [...early.filter(({ instrumentationName }) => !names.has(instrumentationName)), ...given];
}

/** Remembers why the early start failed, so that a set-up which fails for the same reason needn't say so again. */
export function rememberEarlyFailure(error: unknown): void {
  processState.early.failure = messageOf(error);
}

/** Whether the early start has failed, and said so, for the same reason. */
export function isEarlyFailure(error: unknown): boolean {
  return processState.early.failure === messageOf(error);
}

function messageOf(error: unknown): string {
  return String((error as { message?: unknown } | null | undefined)?.message);
}
