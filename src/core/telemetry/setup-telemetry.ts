import { type Meter, metrics, type Tracer, trace } from '@opentelemetry/api';
import { isSdkDisabled, type NestLensConfig, specSourceOf, validateConfig } from './config.js';
import { onBeforeExit } from './on-before-exit.js';
import { differsFromEarly, discardEarlySdk, takeEarlySdk } from './early-sdk.js';
import { createError, TelemetryAlreadySetUpError } from '../diagnostics/errors.js';
import { disableEarlyInstrumentations } from './instrumentation-switch.js';
import { modulesLoadedBefore } from './instrumented-modules.js';
import { startLensMetrics } from './lens-metrics.js';
import { SCOPE_NAME } from '../spans/lens-tracer.js';
import { registeredApis, registeredTracerProvider } from './otel-globals.js';
import { processState } from '../state/process-state.js';
import { type RunningSdk, startSdk } from './sdk.js';
import { allEnded, DEFAULT_TIMEOUT_MS, settleWithin, withTimeout } from './with-timeout.js';
import type { SetupOptions } from './setup-options.js';
import { truncateThen } from '../spans/in-flight-span.js';
import { forgetSpanGroupState, setEnabledSpanGroups, setSpanGroupSpec } from '../groups/span-group-state.js';
import { VERSION } from '../state/version.js';
import { emitWarnings, recordWarning, reportForeignState, type Warning } from '../diagnostics/warnings.js';

/** What `setupTelemetry` returns: the way to flush and to end telemetry. */
export interface TelemetryHandle {
  /** The tracer named `nest-lens` of the provider in force. */
  readonly tracer: Tracer;
  /** The meter named `nest-lens` of the provider in force. */
  readonly meter: Meter;
  /** Whether spans go anywhere. */
  readonly isExporting: boolean;
  /** `own`: the SDK was started by this set-up; `attach`: the application's provider is used; null: disabled. */
  readonly mode: 'own' | 'attach' | null;
  /**
   * Exports what is waiting, and waits for what is on its way. Settles within the limit and never rejects; a failure is a
   * warning.
   *
   * @param timeoutMs milliseconds; what is no number from 0 up, such as NaN, counts as the default. Default: 5,000
   */
  forceFlush(timeoutMs?: number): Promise<void>;
  /**
   * Flushes, ends what this set-up built, turns every group off, and allows a new set-up. Repeated and concurrent calls get
   * the same promise. Settles within the limit and never rejects; a failure is one warning. A provider of the application is
   * flushed, and not shut down. A process that ends because it has nothing left to do does this by itself.
   *
   * @param timeoutMs milliseconds; what is no number from 0 up, such as NaN, counts as the default. Default: 5,000
   */
  shutdown(timeoutMs?: number): Promise<void>;
}

/** What the Nest layer also does with a handle. */
export interface ClosingHandle extends TelemetryHandle {
  /** @param limitMs the limit that the application has set, where `timeoutMs` is what is left of it. Warnings name it. */
  shutdown(timeoutMs?: number, limitMs?: number): Promise<void>;
  /**
   * Begins to export what is waiting, for an application that is about to close, and waits for that, but not long: what is
   * not done by then, or fails, is the shutdown's business. Logs nothing.
   */
  flushAhead(timeoutMs: number): Promise<void>;
}

/** What a handle flushes and shuts down: our SDK, the application's provider, or nothing. */
type Pipeline = RunningSdk;

const NOTHING: Pipeline = {
  isExporting: false,
  forceFlush: () => Promise.resolve(),
  shutdown: () => Promise.resolve(),
  release: () => undefined,
};

/**
 * Sets telemetry up, once per process: builds the providers (or attaches to the one that the application registered), then
 * puts the configured spec in force. Libraries that register later still take effect.
 *
 * With `config.enabled` false, or `OTEL_SDK_DISABLED=true`, nothing is built or loaded, and every group is pinned off.
 *
 * @param config see {@link NestLensConfig}; `nestLensConfigFromEnv()` reads it from the environment
 * @param options exporters, processors, readers and instrumentations of your own; see {@link SetupOptions}
 * @throws (rejects) TelemetryAlreadySetUpError when an enabled set-up is live; ConfigError for an invalid config; NestLensError
 * `SDK_NOT_FOUND` when `@opentelemetry/sdk-node` is missing; whatever the SDK throws. Then nothing is left registered. An
 * exporter, processors and a reader in `options` are shut down if the SDK had got them, which it hasn't in the first three cases.
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
  return setUpWithin(DEFAULT_TIMEOUT_MS, config, options);
}

/**
 * The same, for the Nest layer.
 *
 * @param limitMs for how long, in milliseconds, the process is held up that ends because it has nothing left to do
 */
export async function setUpWithin(
  limitMs: number,
  config: NestLensConfig,
  options: SetupOptions,
): Promise<ClosingHandle> {
  reportForeignState();
  const { telemetry } = processState;
  const valid = validateOrEndEarly(config);
  if (!valid.enabled || isSdkDisabled()) {
    if (valid.enabled) recordWarning({ code: 'SDK_DISABLED', details: {} });
    setEnabledSpanGroups([]);
    endEarly();
    if (telemetry.phase === 'off') {
      Object.assign(telemetry, { configuredSpec: valid.spanGroups, specSource: specSourceOf(config) });
    }
    return createHandle(NOTHING, null, limitMs, () => {
      if (telemetry.phase === 'off') forgetSpanGroupState();
    });
  }
  if (telemetry.phase === 'starting' || telemetry.phase === 'live') {
    throw createError(TelemetryAlreadySetUpError, 'TELEMETRY_ALREADY_SET_UP');
  }
  const stopping = telemetry.stopped;
  telemetry.phase = 'starting';
  let built: Pipeline | undefined;
  try {
    await stopping;
    const { pipeline, mode, warnings } = await buildPipeline(valid, options);
    built = pipeline;
    Object.assign(telemetry, {
      phase: 'live',
      enabled: true,
      exporting: pipeline.isExporting,
      mode,
      configuredSpec: valid.spanGroups,
      specSource: specSourceOf(config),
    });
    emitWarnings(warnings);
    setSpanGroupSpec(valid.spanGroups);
    processState.setUp = true;
    const lensMetrics = valid.metricsEnabled && areMetricsAskedFor(options) ? startLensMetrics() : undefined;
    const metered: Pipeline = {
      ...pipeline,
      release() {
        lensMetrics?.stop();
        pipeline.release();
      },
    };
    return createHandle(metered, mode, limitMs, () => {
      lensMetrics?.freeze();
      forgetSpanGroupState();
      processState.recordedWarnings.length = 0;
    });
  } catch (error) {
    if (built !== undefined) await giveUp(built);
    telemetry.phase = 'off';
    throw error;
  }
}

/** With a configuration that can't be used telemetry stays off, also what was started before the application. */
function validateOrEndEarly(config: NestLensConfig): ReturnType<typeof validateConfig> {
  try {
    return validateConfig(config);
  } catch (error) {
    endEarly();
    throw error;
  }
}

/** Ends what was started before the application, unless a set-up has taken it over. */
export function endEarly(): void {
  discardEarlySdk();
  if (processState.telemetry.phase === 'off') disableEarlyInstrumentations();
}

/** Takes back a set-up that failed after its pipeline was built. There is no handle that could do it later. */
async function giveUp(pipeline: Pipeline): Promise<void> {
  forgetSpanGroupState();
  await withTimeout(DEFAULT_TIMEOUT_MS, Promise.allSettled([pipeline.shutdown()]));
  pipeline.release();
  Object.assign(processState.telemetry, { enabled: false, exporting: false, mode: null });
}

/** Variables by which somebody says where metrics go. Only whether they are set is looked at; what they say is the SDK's. */
const METRICS_VARIABLES = [
  'OTEL_METRICS_EXPORTER',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT',
  'OTEL_CONFIG_FILE',
];

/**
 * Whether our metrics have a reader that is meant for them. An application that gives its own spans pipeline, as tests do, and
 * says nothing of metrics would otherwise try to send them to the SDK's default address when it closes, and warn.
 */
function areMetricsAskedFor({ spanExporter, spanProcessors, metricReader }: SetupOptions): boolean {
  if (registeredApis().meterProvider === undefined) return false;
  const isSpansOnly = (spanExporter ?? spanProcessors) !== undefined && metricReader === undefined;
  return !isSpansOnly || METRICS_VARIABLES.some((name) => Boolean(process.env[name]?.trim()));
}

const EARLY_OPTIONS_IGNORED: Warning = { code: 'OPTIONS_IGNORED', details: { reason: 'early start' } };

interface ApplicationProvider {
  forceFlush?(): Promise<void>;
}

/** The application's provider, which isn't ours to shut down, and the rest of an SDK that was started early without one. */
function attachTo(provider: ApplicationProvider, early: Pipeline = NOTHING): Pipeline {
  return {
    isExporting: true,
    // Its own may throw instead of rejecting, which must not keep the other one from its flush.
    forceFlush: () => allEnded([(async () => provider.forceFlush?.())(), early.forceFlush()]),
    shutdown: () => early.shutdown(),
    release: () => early.release(),
  };
}

async function buildPipeline(
  config: NestLensConfig,
  options: SetupOptions,
): Promise<{ pipeline: Pipeline; mode: 'own' | 'attach'; warnings: Warning[] }> {
  const given = Object.entries(options).some(([key, value]) => key !== 'mode' && value !== undefined);
  const provider = registeredTracerProvider() as ApplicationProvider | undefined;
  const early = takeEarlySdk();
  const isOverruled = early !== undefined && differsFromEarly(early, config);
  const ignored: Warning[] = isOverruled ? [EARLY_OPTIONS_IGNORED] : [];
  if (early !== undefined && (early.hasTracerProvider || provider === undefined)) {
    return { mode: 'own', pipeline: early, warnings: given ? [EARLY_OPTIONS_IGNORED] : ignored };
  }
  if (provider !== undefined) {
    const kept: Warning[] = given || options.mode === 'own' ? [{ code: 'PROVIDER_KEPT', details: {} }] : [];
    return { mode: 'attach', pipeline: attachTo(provider, early), warnings: [...kept, ...ignored] };
  }
  if (options.mode === 'attach') {
    return { mode: 'attach', pipeline: NOTHING, warnings: [{ code: 'NO_TRACER_PROVIDER', details: {} }] };
  }
  const isNestRunning = processState.defaultLogger !== undefined;
  const modules = modulesLoadedBefore(options.instrumentations?.flat() ?? [], isNestRunning);
  return {
    mode: 'own',
    pipeline: await startSdk(config, options),
    warnings: modules.length > 0 ? [{ code: 'INSTRUMENTATION_LATE', details: { modules } }] : [],
  };
}

function createHandle(
  pipeline: Pipeline,
  mode: 'own' | 'attach' | null,
  drainedLimitMs: number,
  forget: () => void,
): ClosingHandle {
  let stopped: Promise<void> | undefined;
  let ahead: Promise<unknown> | undefined;
  const shutdown = (timeoutMs = DEFAULT_TIMEOUT_MS, limitMs = timeoutMs): Promise<void> => {
    stopWaiting();
    return (stopped ??= stop({ pipeline, mode, timeoutMs, limitMs, forget, ahead }));
  };
  const stopWaiting = mode === null ? () => undefined : onBeforeExit(() => void shutdown(drainedLimitMs));
  return {
    get tracer() {
      return trace.getTracer(SCOPE_NAME, VERSION);
    },
    get meter() {
      return metrics.getMeter(SCOPE_NAME, VERSION);
    },
    get isExporting() {
      return pipeline.isExporting && stopped === undefined;
    },
    mode,
    forceFlush: (timeoutMs = DEFAULT_TIMEOUT_MS) => settleWithin(timeoutMs, [() => pipeline.forceFlush()]),
    shutdown,
    flushAhead: async (timeoutMs) => {
      if (mode === null || stopped !== undefined) return;
      const flush = pipeline.forceFlush();
      ahead = Promise.all([ahead, flush]);
      ahead.catch(() => undefined);
      await withTimeout(timeoutMs, Promise.allSettled([flush]));
    },
  };
}

interface Stop {
  readonly pipeline: Pipeline;
  readonly mode: 'own' | 'attach' | null;
  readonly timeoutMs: number;
  readonly limitMs: number;
  readonly forget: () => void;
  /** Flushes that were begun before. */
  readonly ahead: Promise<unknown> | undefined;
}

async function stop({ pipeline, mode, timeoutMs, limitMs, forget, ahead }: Stop): Promise<void> {
  if (mode === null) return forget();
  const { telemetry } = processState;
  telemetry.phase = 'stopping';
  // At once: a pin or a set-up that comes while this is under way has to last.
  forget();
  const steps = [
    // Flush first: shutting a provider down can lose what a simple processor still has under way.
    () => truncateThen(() => allEnded([Promise.resolve(ahead), pipeline.forceFlush()])),
    // Again: the application goes on during the flush. What it starts from here on is lost.
    () => truncateThen(() => pipeline.shutdown()),
  ];
  telemetry.stopped = settleWithin(timeoutMs, steps, limitMs);
  await telemetry.stopped;
  pipeline.release();
  Object.assign(telemetry, { stopped: undefined, enabled: false, exporting: false, mode: null });
  // A set-up that waited for this shutdown has moved the phase on already.
  if ((telemetry.phase as string) === 'stopping') telemetry.phase = 'off';
}
