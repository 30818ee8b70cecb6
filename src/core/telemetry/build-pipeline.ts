import type { Warning } from '../diagnostics/warnings.js';
import type { Pipeline } from '../state/telemetry-state.js';
import type { NestLensConfig } from './config.js';
import { differsFromEarly, takeEarlySdk, withEarlyInstrumentations } from './early-sdk.js';
import { flushMetersOfApplication, flushProvider } from './flush-provider.js';
import { modulesLoadedBefore } from './instrumented-modules.js';
import { registeredTracerProvider } from './otel-globals.js';
import { loadSdk } from './load-sdk.js';
import { startSdk } from './start-sdk.js';
import type { SetupOptions } from './setup-options.js';
import { allEnded } from './with-timeout.js';

export const NOTHING: Pipeline = {
  isExporting: false,
  exports: undefined,
  flushSpans: () => Promise.resolve(),
  flushMetrics: () => Promise.resolve(),
  shutdown: () => Promise.resolve(),
  release: () => undefined,
};

const EARLY_OPTIONS_IGNORED: Warning = { code: 'OPTIONS_IGNORED', details: { reason: 'early start' } };

/** Whether an option is for the start of the SDK. Such an option has no effect on an SDK or a provider that is there already. */
const IS_FOR_START: Readonly<Record<keyof SetupOptions, boolean>> = {
  spanExporter: true,
  spanProcessors: true,
  metricReader: true,
  instrumentations: true,
  resourceAttributes: true,
  mode: false,
  isError: false,
  instrumentationGroups: false,
  specSource: false,
  requestOptIn: false,
};

/** The metrics of NestLens in the application's meter provider, which NestLens doesn't shut down. */
function attachToMeters(config: NestLensConfig, options: SetupOptions): Pipeline {
  const flushMetrics = () => flushMetersOfApplication(config, options);
  return { ...NOTHING, flushMetrics, shutdown: flushMetrics };
}

/**
 * The application's provider, which NestLens doesn't shut down.
 *
 * @param rest the other signals: an SDK that was started early without a tracer provider, or the application's metrics
 */
function attachTo(provider: object, rest: Pipeline): Pipeline {
  return {
    ...rest,
    isExporting: true,
    flushSpans: () => allEnded([flushProvider(provider), rest.flushSpans()]),
  };
}

/** A pipeline, its mode, and the warnings to give once it is in force. */
export interface BuiltPipeline {
  readonly pipeline: Pipeline;
  readonly mode: 'own' | 'attach';
  readonly warnings: readonly Warning[];
}

/**
 * Takes over the SDK that was started before the application; else attaches to the provider that the application has
 * registered; else starts the SDK.
 *
 * @param loadedPackages packages that the caller knows to be loaded, because Node's list of CommonJS modules may lack them
 */
export async function buildPipeline(
  config: NestLensConfig,
  options: SetupOptions,
  loadedPackages: readonly string[],
): Promise<BuiltPipeline> {
  const isGiven = Object.entries(options).some(
    ([key, value]) => IS_FOR_START[key as keyof SetupOptions] && value !== undefined,
  );
  const provider = registeredTracerProvider();
  const early = takeEarlySdk();
  const isOverruled = early !== undefined && differsFromEarly(early, config);
  const ignored: Warning[] = isOverruled ? [EARLY_OPTIONS_IGNORED] : [];
  if (early !== undefined && (early.hasTracerProvider || provider === undefined)) {
    return { mode: 'own', pipeline: early, warnings: isGiven ? [EARLY_OPTIONS_IGNORED] : ignored };
  }
  if (provider !== undefined) {
    const kept: Warning[] = isGiven || options.mode === 'own' ? [{ code: 'PROVIDER_KEPT', details: {} }] : [];
    const pipeline = attachTo(provider, early ?? attachToMeters(config, options));
    return { mode: 'attach', pipeline, warnings: [...kept, ...ignored] };
  }
  if (options.mode === 'attach') {
    const pipeline = attachToMeters(config, options);
    return { mode: 'attach', pipeline, warnings: [{ code: 'NO_TRACER_PROVIDER', details: {} }] };
  }
  const given = options.instrumentations?.flat() ?? [];
  const modules = modulesLoadedBefore(given, loadedPackages);
  const instrumentations = withEarlyInstrumentations(given);
  return {
    mode: 'own',
    pipeline: startSdk(await loadSdk(), config, { ...options, instrumentations }),
    warnings: modules.length > 0 ? [{ code: 'INSTRUMENTATION_LATE', details: { modules } }] : [],
  };
}
