import type { NestLensConfig } from './config.js';
import { whenLoopDrains } from './drained-loop.js';
import { type EarlyStart, processState } from './process-state.js';
import type { RunningSdk } from './sdk.js';

/** The part of a configuration that a running SDK can't be told any more. */
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
  const stopWaiting = whenLoopDrains(() => {
    processState.early = undefined;
    void sdk.shutdown().catch(() => undefined);
  });
  processState.early = { ...sdk, settings: settingsOf(config), take: stopWaiting };
}

/** Takes the SDK that was started early, if there is one; from then on whoever took it ends it. */
export function takeEarlySdk(): EarlyStart | undefined {
  const { early } = processState;
  processState.early = undefined;
  early?.take();
  return early;
}

/** Whether a set-up asks for something else than what the SDK was started with. */
export function differsFromEarly(early: EarlyStart, config: NestLensConfig): boolean {
  return early.settings !== settingsOf(config);
}
