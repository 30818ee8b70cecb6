import { emitWarnings } from '../diagnostics/warnings.js';
import { judgeOffCalls } from '../groups/off-calls.js';
import { forgetSpanGroupState, setSpanGroupSpec } from '../groups/span-group-state.js';
import { judgeTracedFunctions } from '../groups/traced-functions.js';
import type { TakeBack } from '../instrumentations/take-back.js';
import { readRequestOptIn } from '../opt-in/request-opt-in-options.js';
import type { SpecWatch } from '../sources/spec-watch.js';
import { processState } from '../state/process-state.js';
import type { Pipeline } from '../state/telemetry-state.js';
import { type NestLensConfig, originOf } from './config.js';
import { warnOfSharedSpec } from './environment-warnings.js';
import { startInstrumentationGating } from './instrumentation-gating.js';
import { areMetricsAskedFor, type LensMetrics, startLensMetrics } from './lens-metrics.js';
import type { BuiltPipeline } from './build-pipeline.js';
import { forgetRecentTraces } from './keep-recent-traces.js';
import { startRequestOptIn } from './start-request-opt-in.js';
import type { SetupOptions } from './setup-options.js';
import { type ClosingHandle, createHandle, forgetPipeline } from './telemetry-handle.js';
import { forgetVerdicts, putVerdictsInForce } from './verdict-rules.js';
import { DEFAULT_TIMEOUT_MS, withTimeout } from './with-timeout.js';

/** Keeps the configured spec and its origin, for the endpoint. */
export function rememberSpec(config: NestLensConfig): void {
  Object.assign(processState.telemetry, {
    configuredSpec: config.spanGroups,
    specSource: originOf(config, 'spanGroups'),
  });
}

/**
 * Puts the pipeline and the spec in force. If a part of that throws, everything is taken back, and the pipeline is shut down,
 * because there is no handle to do it later.
 */
export async function goLive(
  config: NestLensConfig,
  options: SetupOptions,
  { pipeline, mode, warnings, source }: BuiltPipeline & { readonly source: SpecWatch | undefined },
  drainLimitMs: number,
): Promise<ClosingHandle> {
  let lensMetrics: LensMetrics | undefined;
  let ungateInstrumentations: TakeBack | undefined;
  const live: Pipeline = {
    ...pipeline,
    release() {
      lensMetrics?.stop();
      pipeline.release();
    },
  };
  const forget = (): void => {
    lensMetrics?.freeze();
    source?.stop();
    processState.requestOptIn?.stop();
    forgetSpanGroupState();
    forgetVerdicts();
    ungateInstrumentations?.();
    forgetRecentTraces();
  };
  try {
    const { isExporting: exporting, exports } = pipeline;
    Object.assign(processState.telemetry, { exporting, exports, mode });
    rememberSpec(config);
    emitWarnings(warnings);
    const optIn = readRequestOptIn(options.requestOptIn);
    if (optIn !== undefined) startRequestOptIn(optIn, mode);
    if (config.metricsEnabled && areMetricsAskedFor(options)) lensMetrics = startLensMetrics();
    // This comes before the spec, which may name their groups.
    ungateInstrumentations = startInstrumentationGating(config, options);
    warnOfSharedSpec(config);
    source?.open();
    setSpanGroupSpec(config.spanGroups);
    processState.setUp = true;
    judgeOffCalls();
    judgeTracedFunctions();
    putVerdictsInForce(config, options);
  } catch (error) {
    forget();
    await withTimeout(DEFAULT_TIMEOUT_MS, Promise.allSettled([pipeline.shutdown()]));
    live.release();
    forgetPipeline();
    throw error;
  }
  const handle = createHandle({
    pipeline: live,
    mode,
    drainLimitMs,
    forget() {
      forget();
      processState.recordedWarnings.length = 0;
    },
  });
  Object.assign(processState.telemetry, {
    phase: 'live',
    forceFlush: (timeoutMs?: number) => handle.forceFlush(timeoutMs),
  });
  return handle;
}
