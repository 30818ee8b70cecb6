import type { SpanContext } from '@opentelemetry/api';
import type { NodeSDKConfiguration } from '@opentelemetry/sdk-node';
import { IN_FLIGHT_PROCESSOR } from '../spans/in-flight-ring.js';
import { isFromNemo, type NestLensConfig } from './config.js';
import { createConsoleSpanExporter } from './console-span-exporter.js';
import { isSampled } from './is-sampled.js';
import { TreeSpanExporter } from './tree-span-exporter.js';
import type { RegisteredApis } from './otel-globals.js';
import { patchedModules, shouldHaveModules } from '../private-fields/private-fields.js';
import { instrumentationForSdk } from './sdk-instrumentations.js';
import { createBatchProcessor, defaultResource, type Resource, type SdkModule } from './sdk-parts.js';
import type { SetupOptions, SpanExporterLike, SpanProcessorLike } from './setup-options.js';
import type { SpanPipeline } from './span-pipeline.js';
import type { UnknownShape } from '../diagnostics/warning-details.js';

type SdkConfiguration = Partial<NodeSDKConfiguration>;
type SdkMetricReader = NonNullable<NodeSDKConfiguration['metricReaders']>[number];

/** The input for a start of the SDK. */
export interface SdkStart {
  readonly sdkModule: SdkModule;
  readonly config: NestLensConfig;
  readonly options: SetupOptions;
  /** The objects that were registered before. */
  readonly before: RegisteredApis;
  readonly spans: SpanPipeline;
  /** The parts of the SDK that are not as expected; it is added to. */
  readonly unknown: Set<UnknownShape>;
}

/** The configuration of the SDK: the settings that the application gave in code. The SDK's own variables decide the rest. */
export function sdkConfiguration(start: SdkStart): SdkConfiguration {
  const { config, before } = start;
  const resource = resourceOf(start);
  return {
    ...spanConfiguration(start),
    ...metricConfiguration(start),
    // A context manager of another program stays; the SDK would complain about a second one.
    ...(before.contextManager === undefined ? {} : { contextManager: null as never }),
    ...(before.propagator === undefined ? {} : { textMapPropagator: null }),
    ...(resource === undefined ? {} : { resource }),
    ...(config.serviceName === undefined ? {} : { serviceName: config.serviceName }),
    instrumentations: sdkInstrumentations(start),
  };
}

/** The instrumentations in the form that the SDK takes. */
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
    // The SDK silently drops an exporter beside processors.
    return { spanProcessors: [IN_FLIGHT_PROCESSOR, ...processors, ...batchesFor(exporter, start)] };
  }
  // A lone exporter is left to the SDK, which reads the batch processor's variables.
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
      if (!isShutDown && isSampled(span)) exporter.export([span], () => undefined);
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
    // The oldest versions know only one reader, by the other name.
    return { metricReaders: [reader], metricReader: reader };
  }
  // `exporter` is about spans: its `console` and `none` don't overrule variables that name a metrics exporter.
  const isLeftToSdk = config.exporter === 'otlp' || Boolean(process.env['OTEL_METRICS_EXPORTER']?.trim());
  return isLeftToSdk ? {} : { metricReaders: [] };
}

/**
 * The default resource with ours on top. The SDK merges what it detects (`OTEL_RESOURCE_ATTRIBUTES` too) over the resource
 * that it is given, but explicit attributes have to win, so `merge` puts them on top once more.
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
    // Values of variables shared with NeMo Lens get its attribute names too, so that traces of Python and Node are found
    // together.
    ...(isFromNemo(config, 'runId') ? { 'nemo.run.id': config.runId } : {}),
    ...(isFromNemo(config, 'userId') ? { 'nemo.user.id': config.userId } : {}),
    ...options.resourceAttributes,
  };
  // The members that `merge` needs of its argument.
  const explicit = { attributes, getRawAttributes: () => Object.entries(attributes) } as unknown as Resource;
  return Object.create(base, {
    merge: { value: (detected: Resource): Resource => base.merge(detected).merge(explicit) },
  }) as Resource;
}
