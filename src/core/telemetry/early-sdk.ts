import type { NestLensConfig } from './config.js';
import { onBeforeExit } from './on-before-exit.js';
import { registeredTracerProvider } from './otel-globals.js';
import { processState } from '../state/process-state.js';
import type { EarlyStart } from '../state/state-shape.js';
import type { RunningSdk } from './sdk.js';
import { DEFAULT_TIMEOUT_MS, settleWithin } from './with-timeout.js';
import { truncateThen } from '../spans/in-flight-span.js';

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

/** Keeps an SDK that was started early for the set-up to come; if none comes, it ends with the process. */
export function keepEarlySdk(sdk: RunningSdk, config: NestLensConfig): void {
  const stopWaiting = onBeforeExit(() => {
    processState.early = undefined;
    void endWithProcess(sdk);
  });
  processState.early = {
    ...sdk,
    settings: settingsOf(config),
    runId: config.runId,
    // Nobody else's: it wouldn't have been started beside one.
    hasTracerProvider: registeredTracerProvider() !== undefined,
    take: stopWaiting,
  };
}

/** As the shutdown of a set-up does it: spans that are open are rescued, the limit is kept, a failure is said once. */
async function endWithProcess(sdk: RunningSdk): Promise<void> {
  const steps = [() => sdk.forceFlush(), () => sdk.shutdown()];
  await settleWithin(
    DEFAULT_TIMEOUT_MS,
    steps.map((step) => () => truncateThen(step)),
  );
  sdk.release();
}

/** Takes the SDK that was started early, if there is one; from then on whoever took it ends it. */
export function takeEarlySdk(): EarlyStart | undefined {
  const { early } = processState;
  processState.early = undefined;
  early?.take();
  return early;
}

/**
 * Ends the SDK that was started early: the environment wanted telemetry and the application doesn't, whose word counts. It is
 * out of the way at once. Nobody waits for what it still has to say, or wants to know whether that arrives.
 */
export function discardEarlySdk(): void {
  const early = takeEarlySdk();
  if (early === undefined) return;
  const ended = (async () => early.shutdown())();
  ended.catch(() => undefined);
  early.release();
}

/** Whether a set-up asks for something else than what the SDK was started with. */
export function differsFromEarly(early: EarlyStart, config: NestLensConfig): boolean {
  const isOtherRun = early.runId !== config.runId;
  return isOtherRun || early.settings !== settingsOf(config);
}
