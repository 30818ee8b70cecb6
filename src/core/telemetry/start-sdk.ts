import { metrics, trace } from '@opentelemetry/api';
import type { UnknownShape } from '../diagnostics/warning-details.js';
import { emitWarnings } from '../diagnostics/warnings.js';
import { IN_FLIGHT_PROCESSOR } from '../spans/in-flight-ring.js';
import { processState } from '../state/process-state.js';
import type { Pipeline } from '../state/telemetry-state.js';
import type { NestLensConfig } from './config.js';
import { flushMeters, flushMetersOfApplication, flushProvider } from './flush-provider.js';
import { registeredApis, registeredTracerProvider, unregisterApis } from './otel-globals.js';
import { processorsOf } from '../private-fields/private-fields.js';
import { sdkConfiguration, sdkInstrumentations, type SdkStart } from './sdk-configuration.js';
import type { SdkModule } from './sdk-parts.js';
import type { SetupOptions, SpanProcessorLike } from './setup-options.js';
import { SpanPipeline } from './span-pipeline.js';
import { allEnded, withTimeout } from './with-timeout.js';

/** The SDK, the span pipeline or a reader, to be shut down. */
interface Closable {
  shutdown(): Promise<void>;
}

/** A failed set-up waits at most this long, in milliseconds, for what it ends. There is nothing to export. */
const GIVING_UP_MS = 1_000;

/**
 * Starts the OpenTelemetry Node SDK. Objects from the application beat the configured exporter; the SDK's own variables
 * decide the rest. Throws if the SDK can't be started. Then nothing is registered, and objects that the SDK had got are shut
 * down; the next set-up waits for that.
 */
export function startSdk(sdkModule: SdkModule, config: NestLensConfig, options: SetupOptions): Pipeline {
  const before = registeredApis();
  const spans = new SpanPipeline();
  const start: SdkStart = { sdkModule, config, options, before, spans, unknown: new Set<UnknownShape>() };
  let sdk: Closable | undefined;
  let hasOurProcessors = false;
  try {
    if (isFileInForce(start)) {
      sdk = startFromFile(start);
    } else {
      const configuration = sdkConfiguration(start);
      hasOurProcessors = configuration.spanProcessors !== undefined;
      const made = new sdkModule.NodeSDK(configuration);
      sdk = made;
      made.start();
    }
    if (!hasOurProcessors) adoptProcessors(start);
  } catch (error) {
    const { telemetry } = processState;
    telemetry.stopped = withTimeout(GIVING_UP_MS, endFailedStart(sdk, start)).then(
      () => void (telemetry.stopped = undefined),
    );
    unregisterApis(before, registeredApis());
    throw error;
  }
  return pipelineOf(sdk, start);
}

function pipelineOf(sdk: Closable, start: SdkStart): Pipeline {
  const { config, options, before, spans } = start;
  const after = registeredApis();
  const provider = providerOf(start);
  emitWarnings([...start.unknown].map((part) => ({ code: 'SDK_UNKNOWN_SHAPE', details: { part } })));
  const isGiven = options.spanExporter !== undefined || options.spanProcessors !== undefined;
  const isMeterOfApplication = before.meterProvider !== undefined;
  const flushMetrics = () =>
    isMeterOfApplication ? flushMetersOfApplication(config, options) : flushMeters(config);
  return {
    exports: spans.exports,
    isExporting: provider !== undefined && (isGiven || config.exporter !== 'none'),
    // Processors are flushed first, so that their exports are among those to wait for.
    flushSpans: () => allEnded([flushProvider(provider), spans.exportsSettled()]),
    flushMetrics,
    shutdown() {
      const ends = [(async () => sdk.shutdown())(), spans.ended()];
      // The SDK exports only the metrics of its own provider.
      if (isMeterOfApplication) ends.push(flushMetrics());
      return allEnded(ends);
    },
    release() {
      spans.release();
      unregisterApis(before, after);
    },
  };
}

/** The provider that this SDK has made, if any. */
function providerOf({ before }: SdkStart): object | undefined {
  return before.tracerProvider === undefined ? registeredTracerProvider() : undefined;
}

/**
 * Guards the SDK's processors and adds ours. The SDK takes processors only in place of those that its variables define, so
 * ours are added to its list.
 */
function adoptProcessors(start: SdkStart): void {
  const provider = providerOf(start);
  if (provider === undefined) return;
  const processors = processorsOf<SpanProcessorLike>(provider);
  if (processors === undefined) {
    start.unknown.add('processors');
    return;
  }
  if (!start.spans.adopt(processors)) start.unknown.add('exporter');
  processors.unshift(IN_FLIGHT_PROCESSOR);
}

/**
 * Whether the SDK's declarative configuration file decides. Objects that the application gives in code can't be put into it,
 * and win.
 */
function isFileInForce({ sdkModule, config, options }: SdkStart): boolean {
  const { spanExporter, spanProcessors, metricReader } = options;
  const isGiven = [spanExporter, spanProcessors, metricReader].some((part) => part !== undefined);
  if (!process.env['OTEL_CONFIG_FILE']?.trim() || config.exporter !== 'otlp' || isGiven) return false;
  // Older versions know no such file.
  return sdkModule.startNodeSDK !== undefined;
}

function startFromFile(start: SdkStart): Closable {
  const { sdkModule, config, before } = start;
  const sdk = sdkModule.startNodeSDK!({ instrumentations: sdkInstrumentations(start) });
  // Providers that the application has registered itself stay.
  if (!config.tracesEnabled && before.tracerProvider === undefined) trace.disable();
  if (!config.metricsEnabled && before.meterProvider === undefined) metrics.disable();
  return sdk;
}

/**
 * Ends the objects that a failed SDK has made or was given: otherwise a reader's timer or port would outlive it. The SDK
 * itself ends only what is in a provider.
 */
async function endFailedStart(
  sdk: Closable | undefined,
  { config, options, spans }: SdkStart,
): Promise<void> {
  const parts: (Closable | undefined)[] = [sdk, spans];
  const hasMeterProvider = registeredApis().meterProvider !== undefined;
  if (config.metricsEnabled && !hasMeterProvider) parts.push(options.metricReader);
  await Promise.allSettled(parts.map(async (part) => part?.shutdown()));
}
