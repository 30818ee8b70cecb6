import { type SpanContext, TraceFlags } from '@opentelemetry/api';
import type { NodeSDKConfiguration } from '@opentelemetry/sdk-node';
import { IN_FLIGHT_PROCESSOR } from '../spans/in-flight-ring.js';
import { isFromNemo, type NestLensConfig } from './config.js';
import { createConsoleSpanExporter } from './console-span-exporter.js';
import { TreeSpanExporter } from './tree-span-exporter.js';
import type { RegisteredApis } from './otel-globals.js';
import { patchedModules, shouldHaveModules } from './private-fields.js';
import { instrumentationForSdk } from './sdk-instrumentations.js';
import { createBatchProcessor, defaultResource, type Resource, type SdkModule } from './sdk-parts.js';
import type { SetupOptions, SpanExporterLike, SpanProcessorLike } from './setup-options.js';
import type { SpanPipeline } from './span-pipeline.js';
import type { UnknownShape } from '../diagnostics/warning-messages.js';

type SdkConfiguration = Partial<NodeSDKConfiguration>;
type SdkMetricReader = NonNullable<NodeSDKConfiguration['metricReaders']>[number];

/** All that a start of the SDK goes by. */
export interface SdkStart {
  readonly sdkModule: SdkModule;
  readonly config: NestLensConfig;
  readonly options: SetupOptions;
  /** What was registered before. */
  readonly before: RegisteredApis;
  readonly spans: SpanPipeline;
  /** What of the SDK is not as expected; added to. */
  readonly unknown: Set<UnknownShape>;
}

/** What the SDK is given: what the application has said in code. What it leaves out, the SDK's own variables decide. */
export function sdkConfiguration(start: SdkStart): SdkConfiguration {
  const { config, before } = start;
  const resource = resourceOf(start);
  return {
    ...spanConfiguration(start),
    ...metricConfiguration(start),
    // Somebody else's stays, and the SDK would complain about the second one.
    ...(before.contextManager === undefined ? {} : { contextManager: null as never }),
    ...(before.propagator === undefined ? {} : { textMapPropagator: null }),
    ...(resource === undefined ? {} : { resource }),
    ...(config.serviceName === undefined ? {} : { serviceName: config.serviceName }),
    instrumentations: sdkInstrumentations(start),
  };
}

/** The instrumentations, as the SDK is given them. */
export function sdkInstrumentations({
  options: { instrumentations = [] },
  unknown,
}: SdkStart): NonNullable<SdkConfiguration['instrumentations']> {
  const given = instrumentations.flat();
  if (given.some((each) => shouldHaveModules(each) && patchedModules(each) === undefined))
    unknown.add('modules');
  return given.map(instrumentationForSdk) as never[];
}

/** The span pipeline, as options of the SDK. */
function spanConfiguration(start: SdkStart): SdkConfiguration {
  const { config, spans, options } = start;
  if (!config.tracesEnabled) return { spanProcessors: [] };
  const { spanProcessors } = options;
  const exporter = options.spanExporter && spans.guardExporter(options.spanExporter);
  if (spanProcessors !== undefined) {
    const processors = spanProcessors.map((processor) => spans.guardProcessor(processor, true));
    // The SDK would drop an exporter beside processors without a word.
    return { spanProcessors: [IN_FLIGHT_PROCESSOR, ...processors, ...batchesFor(exporter, start)] };
  }
  // Alone, an exporter is left to the SDK, which reads the batch processor's variables.
  if (exporter !== undefined) return { traceExporter: exporter };
  if (config.exporter === 'none') return { spanProcessors: [IN_FLIGHT_PROCESSOR] };
  if (config.exporter === 'console' || config.exporter === 'tree') {
    const printer = config.exporter === 'tree' ? new TreeSpanExporter() : createConsoleSpanExporter();
    const direct = createDirectProcessor(spans.guardExporter(printer));
    return { spanProcessors: [IN_FLIGHT_PROCESSOR, spans.guardProcessor(direct)] };
  }
  return {};
}

function batchesFor(exporter: SpanExporterLike | undefined, start: SdkStart): SpanProcessorLike[] {
  if (exporter === undefined) return [];
  const batches = createBatchProcessor(start.sdkModule, exporter);
  if (batches === undefined) start.unknown.add('batch processor');
  return [start.spans.guardProcessor(batches ?? createDirectProcessor(exporter))];
}

/** Exports each span as it ends. */
function createDirectProcessor(exporter: SpanExporterLike): SpanProcessorLike {
  let isShutDown = false;
  return {
    onStart: () => undefined,
    onEnd: (span: { spanContext(): SpanContext }) => {
      if (isShutDown || (span.spanContext().traceFlags & TraceFlags.SAMPLED) === 0) return;
      exporter.export([span], () => undefined);
    },
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => {
      isShutDown = true;
      return exporter.shutdown();
    },
  };
}

function metricConfiguration({ config, options, before }: SdkStart): SdkConfiguration {
  if (!config.metricsEnabled || before.meterProvider !== undefined) return { metricReaders: [] };
  if (options.metricReader !== undefined) {
    const reader = options.metricReader as unknown as SdkMetricReader;
    // The oldest versions know one reader only, by the other name.
    return { metricReaders: [reader], metricReader: reader };
  }
  // `exporter` is about spans: its `console` and `none` are no reason to be deaf to who asks for metrics by name.
  const isLeftToSdk = config.exporter === 'otlp' || Boolean(process.env['OTEL_METRICS_EXPORTER']?.trim());
  return isLeftToSdk ? {} : { metricReaders: [] };
}

/**
 * The default resource with ours over it. The SDK merges what it detects (`OTEL_RESOURCE_ATTRIBUTES` too) over the resource
 * that it is given, but what the application says explicitly has to win, so `merge` puts it on top once more.
 */
function resourceOf({ sdkModule, config, options, unknown }: SdkStart): Resource | undefined {
  const base = defaultResource(sdkModule);
  if (base === undefined) {
    unknown.add('resource');
    return undefined;
  }
  const attributes = {
    'nestlens.run_id': config.runId,
    ...(config.userId === '' ? {} : { 'nestlens.user_id': config.userId }),
    // Under the names of NeMo Lens too, where a variable of both has the value: traces of Python and Node are found together.
    ...(isFromNemo(config, 'runId') ? { 'nemo.run.id': config.runId } : {}),
    ...(isFromNemo(config, 'userId') ? { 'nemo.user.id': config.userId } : {}),
    ...options.resourceAttributes,
  };
  // All that `merge` asks of its argument.
  const explicit = { attributes, getRawAttributes: () => Object.entries(attributes) } as unknown as Resource;
  return Object.create(base, {
    merge: { value: (detected: Resource): Resource => base.merge(detected).merge(explicit) },
  }) as Resource;
}
