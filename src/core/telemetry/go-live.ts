import { emitWarnings } from '../diagnostics/warnings.js';
import { judgeOffCalls } from '../groups/off-calls.js';
import { forgetSpanGroupState, setSpanGroupSpec } from '../groups/span-group-state.js';
import { judgeTracedFunctions } from '../groups/traced-functions.js';
import { readRequestOptIn } from '../opt-in/request-opt-in-options.js';
import type { SpecWatch } from '../sources/spec-watch.js';
import { processState } from '../state/process-state.js';
import type { Pipeline } from '../state/telemetry-state.js';
import { type NestLensConfig, originOf } from './config.js';
import { warnOfSharedSpec } from './environment-warnings.js';
import { startInstrumentationGating } from './instrumentation-gating.js';
import { areMetricsAskedFor, startLensMetrics } from './lens-metrics.js';
import type { BuiltPipeline } from './pipeline.js';
import { forgetRecentTraces } from './recent-traces.js';
import { startRequestOptIn } from './request-opt-in.js';
import type { SetupOptions } from './setup-options.js';
import { type ClosingHandle, createHandle } from './telemetry-handle.js';
import { forgetVerdicts, putVerdictsInForce } from './verdict-rules.js';
import { DEFAULT_TIMEOUT_MS, withTimeout } from './with-timeout.js';

/** Keeps the configured spec and its origin, for the endpoint. */
export function rememberSpec(config: NestLensConfig): void {
  Object.assign(processState.telemetry, {
    configuredSpec: config.spanGroups,
    specSource: originOf(config, 'spanGroups'),
  });
}

/** Puts the pipeline and the spec in force. */
export function goLive(
  config: NestLensConfig,
  options: SetupOptions,
  { pipeline, mode, warnings, source }: BuiltPipeline & { readonly source: SpecWatch | undefined },
  drainLimitMs: number,
): ClosingHandle {
  const { isExporting: exporting, exports } = pipeline;
  Object.assign(processState.telemetry, { phase: 'live', enabled: true, exporting, exports, mode });
  rememberSpec(config);
  emitWarnings(warnings);
  const optIn = readRequestOptIn(options.requestOptIn);
  if (optIn !== undefined) startRequestOptIn(optIn, mode);
  const lensMetrics = config.metricsEnabled && areMetricsAskedFor(options) ? startLensMetrics() : undefined;
  // This comes before the spec, which may name their groups.
  const ungateInstrumentations = startInstrumentationGating(config, options);
  warnOfSharedSpec(config);
  source?.open();
  setSpanGroupSpec(config.spanGroups);
  processState.setUp = true;
  judgeOffCalls();
  judgeTracedFunctions();
  putVerdictsInForce(config, options);
  const handle = createHandle({
    pipeline: {
      ...pipeline,
      release() {
        lensMetrics?.stop();
        pipeline.release();
      },
    },
    mode,
    drainLimitMs,
    forget() {
      lensMetrics?.freeze();
      source?.stop();
      processState.requestOptIn?.stop();
      forgetSpanGroupState();
      forgetVerdicts();
      ungateInstrumentations();
      forgetRecentTraces();
      processState.recordedWarnings.length = 0;
    },
  });
  processState.telemetry.forceFlush = (timeoutMs) => handle.forceFlush(timeoutMs);
  return handle;
}

/** Takes back a pipeline that could not be put in force, because there is no handle to do it later. */
export async function giveUp(pipeline: Pipeline): Promise<void> {
  processState.requestOptIn?.stop();
  forgetSpanGroupState();
  forgetVerdicts();
  await withTimeout(DEFAULT_TIMEOUT_MS, Promise.allSettled([pipeline.shutdown()]));
  pipeline.release();
  Object.assign(processState.telemetry, {
    enabled: false,
    exporting: false,
    mode: null,
    exports: undefined,
  });
}
