import { metrics, type SpanContext, trace, TraceFlags } from '@opentelemetry/api';
import type { NodeSDKConfiguration } from '@opentelemetry/sdk-node';
import type { NestLensConfig } from './config.js';
import { createConsoleSpanExporter } from './console-span-exporter.js';
import { withEarlyInstrumentations } from './early-sdk.js';
import { followRegisteredProvider } from './following-tracers.js';
import { loadSdk, loadSdkWith } from './load-sdk.js';
import { IN_FLIGHT_PROCESSOR } from '../spans/in-flight-ring.js';
import {
  type RegisteredApis,
  registeredApis,
  registeredTracerProvider,
  unregisterApis,
} from './otel-globals.js';
import { PipelineGuard } from './pipeline-guard.js';
import { allEnded, withTimeout } from './with-timeout.js';
import type { SetupOptions, SpanExporterLike, SpanProcessorLike } from './setup-options.js';

/** The SDK, running. */
export interface RunningSdk {
  /** Whether spans go anywhere. */
  readonly isExporting: boolean;
  forceFlush(): Promise<void>;
  shutdown(): Promise<void>;
  /** Takes back what the SDK registered process-wide, so that it can be started again, even if its shutdown hangs. */
  release(): void;
}

type SdkNode = typeof import('@opentelemetry/sdk-node');
/** SDK 2.x hands on what it is made of; SDK 3.x doesn't, and the packages behind it are none that we may import. */
type SdkModule = Omit<SdkNode, 'tracing' | 'resources'> & Partial<Pick<SdkNode, 'tracing' | 'resources'>>;
type Resource = ReturnType<SdkNode['resources']['defaultResource']>;
type SdkSpanExporter = NodeSDKConfiguration['traceExporter'];
type SdkMetricReader = NonNullable<NodeSDKConfiguration['metricReaders']>[number];
type SdkInstrumentations = NodeSDKConfiguration['instrumentations'];

/** What has to be shut down: a provider, a processor, an exporter or a reader. */
interface Closable {
  shutdown(): Promise<void>;
}

/** How long a set-up that has failed waits for what it ends, in milliseconds. There is nothing to export. */
const GIVING_UP_MS = 1_000;

/** Makes spans and propagates them, but exports nothing: the SDK registers a provider only if it has a processor. */
const SILENT_PROCESSOR: SpanProcessorLike = {
  onStart: () => undefined,
  onEnd: () => undefined,
  shutdown: () => Promise.resolve(),
  forceFlush: () => Promise.resolve(),
};

async function shutDown(part: Closable): Promise<void> {
  await part.shutdown();
}

async function flush(provider: unknown): Promise<void> {
  await (provider as { forceFlush?(): Promise<void> } | undefined)?.forceFlush?.();
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

/** The span pipeline, as options of the SDK. Empty: the SDK's own variables decide. */
function spanPipeline(
  { tracing }: SdkModule,
  config: NestLensConfig,
  { spanExporter, spanProcessors }: SetupOptions,
  guard: PipelineGuard,
): Partial<NodeSDKConfiguration> {
  if (!config.tracesEnabled) return { spanProcessors: [] };
  if (spanProcessors !== undefined || spanExporter !== undefined) {
    // Alone, an exporter is left to the SDK, which reads the batch processor's variables. Given beside processors, the SDK
    // would drop it without a word.
    const traceExporter: SdkSpanExporter | undefined =
      spanExporter === undefined ? undefined : guard.guardExporter(spanExporter);
    // Where we have no batch processor, the SDK makes one, and the given processors follow; see `addProcessors`.
    if (spanProcessors === undefined || (traceExporter !== undefined && tracing === undefined)) {
      return { traceExporter: traceExporter! };
    }
    const processors = spanProcessors.map((processor) => guard.guardProcessor(processor));
    if (traceExporter !== undefined) processors.push(new tracing!.BatchSpanProcessor(traceExporter));
    return { spanProcessors: processors };
  }
  if (config.exporter === 'console') {
    return { spanProcessors: [createDirectProcessor(createConsoleSpanExporter())] };
  }
  if (config.exporter === 'none') return { spanProcessors: [SILENT_PROCESSOR] };
  return {};
}

function metricPipeline(
  config: NestLensConfig,
  { metricReader }: SetupOptions,
  before: RegisteredApis,
): Partial<NodeSDKConfiguration> {
  if (!config.metricsEnabled || before.meterProvider !== undefined) return { metricReaders: [] };
  if (metricReader !== undefined) {
    const reader = metricReader as unknown as SdkMetricReader;
    // The oldest versions know one reader only, by the other name.
    return { metricReaders: [reader], metricReader: reader };
  }
  // `exporter` is about spans: its `console` and `none` are no reason to be deaf to who asks for metrics by name.
  const isLeftToSdk = config.exporter === 'otlp' || Boolean(process.env['OTEL_METRICS_EXPORTER']?.trim());
  return isLeftToSdk ? {} : { metricReaders: [] };
}

/** What an SDK would describe itself with. SDK 3.x says it only to those who make one. */
function defaultResource({ resources, NodeSDK }: SdkModule): Resource | undefined {
  if (resources !== undefined) return resources.defaultResource();
  const idle = withoutLogLevel(() => new NodeSDK({ autoDetectResources: false, metricReaders: [] }));
  return (idle as unknown as { _resource?: Resource })._resource;
}

/** An SDK that is made registers a logger if it is told how much to log, and the next one complains of that. */
function withoutLogLevel<T>(make: () => T): T {
  const { OTEL_LOG_LEVEL: level } = process.env;
  delete process.env['OTEL_LOG_LEVEL'];
  try {
    return make();
  } finally {
    if (level !== undefined) process.env['OTEL_LOG_LEVEL'] = level;
  }
}

/**
 * The default resource with ours over it. The SDK merges what it detects (`OTEL_RESOURCE_ATTRIBUTES` too) over the resource
 * that it is given, but what the application says explicitly has to win, so `merge` puts it on top once more.
 */
function resourceOf(
  sdkModule: SdkModule,
  config: NestLensConfig,
  { resourceAttributes }: SetupOptions,
): Resource | undefined {
  const base = defaultResource(sdkModule);
  if (base === undefined) return undefined;
  const attributes = {
    'nestlens.run_id': config.runId,
    ...(config.userId === '' ? {} : { 'nestlens.user_id': config.userId }),
    ...resourceAttributes,
  };
  // All that `merge` asks of its argument.
  const explicit = { attributes, getRawAttributes: () => Object.entries(attributes) } as unknown as Resource;
  return Object.create(base, {
    merge: { value: (detected: Resource): Resource => base.merge(detected).merge(explicit) },
  }) as Resource;
}

/**
 * Lets a provider tell us of its spans under way. The SDK takes processors only instead of those that its variables ask
 * for, so ours goes into the list that it has made; where there is no such list, the spans that NestLens made are kept.
 */
function keepInFlight(processors: SpanProcessorLike[]): void {
  processors.unshift(IN_FLIGHT_PROCESSOR);
}

/** Guards the processors that the SDK has made by itself, too. */
function guardProcessors(processors: SpanProcessorLike[], guard: PipelineGuard): void {
  for (const [at, processor] of processors.entries()) processors[at] = guard.guardProcessor(processor);
}

/** The list of processors that a provider has made, if it can be added to. */
function processorsOf(provider: object | undefined): SpanProcessorLike[] | undefined {
  const { _activeSpanProcessor: active } = (provider ?? {}) as {
    _activeSpanProcessor?: { _spanProcessors?: SpanProcessorLike[] };
  };
  const processors = active?._spanProcessors;
  return Array.isArray(processors) && !Object.isFrozen(processors) ? processors : undefined;
}

/** SDK 3.x: the processors that were given beside an exporter, which it would have dropped for them. */
function addProcessors(
  { tracing }: SdkModule,
  { tracesEnabled }: NestLensConfig,
  { spanExporter, spanProcessors = [] }: SetupOptions,
  processors: SpanProcessorLike[],
): void {
  if (tracing !== undefined || !tracesEnabled || spanExporter === undefined) return;
  processors.unshift(...spanProcessors);
}

/**
 * Starts the OpenTelemetry Node SDK. What the application gave beats the configured exporter; everything else is left to
 * the SDK's own variables. Throws when the SDK can't be started; then nothing is registered, and what was given to the SDK
 * is shut down, since there is nobody else to do it.
 */
export async function startSdk(config: NestLensConfig, options: SetupOptions): Promise<RunningSdk> {
  const instrumentations = withEarlyInstrumentations(options.instrumentations?.flat() ?? []);
  const start = attemptStart((await loadSdk()) as SdkModule, config, { ...options, instrumentations });
  if ('running' in start) return start.running;
  await withTimeout(GIVING_UP_MS, start.ended);
  throw start.error;
}

/** The same at once, with an SDK that `require` finds: before the application loads there is no time to wait. */
export function startSdkNow(
  load: (specifier: string) => unknown,
  config: NestLensConfig,
  options: SetupOptions,
): RunningSdk {
  const start = attemptStart(loadSdkWith(load) as SdkModule, config, options);
  if ('error' in start) throw start.error;
  return start.running;
}

/** Whether the SDK's declarative configuration file decides. What the application gives in code can't be put into it, and wins. */
function isFileInForce(sdkModule: SdkModule, { exporter }: NestLensConfig, options: SetupOptions): boolean {
  const { spanExporter, spanProcessors, metricReader } = options;
  const isGiven = [spanExporter, spanProcessors, metricReader].some((part) => part !== undefined);
  if (!process.env['OTEL_CONFIG_FILE']?.trim() || exporter !== 'otlp' || isGiven) return false;
  // Older versions know no such file.
  return (sdkModule as Partial<SdkModule>).startNodeSDK !== undefined;
}

function createFromFile(
  { startNodeSDK }: SdkModule,
  { tracesEnabled, metricsEnabled }: NestLensConfig,
  { instrumentations = [] }: SetupOptions,
  before: RegisteredApis,
): Closable {
  const sdk = startNodeSDK({ instrumentations: instrumentations as unknown as SdkInstrumentations });
  // What the application has registered itself stays.
  if (!tracesEnabled && before.tracerProvider === undefined) trace.disable();
  if (!metricsEnabled && before.meterProvider === undefined) metrics.disable();
  return sdk;
}

function createFromOptions(
  sdkModule: SdkModule,
  config: NestLensConfig,
  options: SetupOptions,
  before: RegisteredApis,
  guard: PipelineGuard,
): InstanceType<SdkNode['NodeSDK']> {
  const resource = resourceOf(sdkModule, config, options);
  return new sdkModule.NodeSDK({
    ...spanPipeline(sdkModule, config, options, guard),
    ...metricPipeline(config, options, before),
    // Somebody else's stays, and the SDK would complain about the second one.
    ...(before.contextManager === undefined ? {} : { contextManager: null as never }),
    ...(before.propagator === undefined ? {} : { textMapPropagator: null }),
    ...(resource === undefined ? {} : { resource }),
    ...(config.serviceName === undefined ? {} : { serviceName: config.serviceName }),
    instrumentations: (options.instrumentations ?? []) as unknown as SdkInstrumentations,
  });
}

/**
 * Ends what an SDK that failed to start has made, and what it was given and would have ended: a reader's timer or port would
 * outlive it. The SDK itself ends only what has got into a provider; a provider is registered as soon as it is made.
 */
async function endFailedStart(
  sdk: Closable | undefined,
  { tracesEnabled, metricsEnabled }: NestLensConfig,
  { spanExporter, spanProcessors = [], metricReader }: SetupOptions,
  before: RegisteredApis,
): Promise<void> {
  const parts = new Set<Closable | undefined>([sdk]);
  const isMade = (api: 'tracerProvider' | 'meterProvider'): boolean => registeredApis()[api] !== before[api];
  if (tracesEnabled && !isMade('tracerProvider')) {
    for (const part of [spanExporter, ...spanProcessors]) parts.add(part);
  }
  if (metricsEnabled && before.meterProvider === undefined && !isMade('meterProvider')) {
    const { _meterProviderConfig: made } = (sdk ?? {}) as {
      _meterProviderConfig?: { readers?: readonly Closable[] };
    };
    for (const part of [metricReader, ...(made?.readers ?? [])]) parts.add(part);
  }
  await Promise.allSettled([...parts].map(async (part) => part?.shutdown()));
}

type Start =
  | { readonly running: RunningSdk }
  /** `ended` settles when what was begun has come to its end; it never rejects. */
  | { readonly error: unknown; readonly ended: Promise<void> };

function attemptStart(sdkModule: SdkModule, config: NestLensConfig, options: SetupOptions): Start {
  const before = registeredApis();
  const guard = new PipelineGuard();
  let sdk: Closable | undefined;
  try {
    if (isFileInForce(sdkModule, config, options)) {
      sdk = createFromFile(sdkModule, config, options, before);
    } else {
      const created = createFromOptions(sdkModule, config, options, before, guard);
      sdk = created;
      created.start();
    }
    followRegisteredProvider(options.instrumentations?.flat() ?? []);
  } catch (error) {
    const ended = endFailedStart(sdk, config, options, before).catch(() => undefined);
    unregisterApis(before, registeredApis());
    return { error, ended };
  }
  const after = registeredApis();
  const provider = before.tracerProvider === undefined ? registeredTracerProvider() : undefined;
  const processors = processorsOf(provider);
  if (processors !== undefined) {
    addProcessors(sdkModule, config, options, processors);
    guardProcessors(processors, guard);
    keepInFlight(processors);
  }
  const givenPipeline = options.spanExporter !== undefined || options.spanProcessors !== undefined;
  const started = sdk;
  return {
    running: {
      isExporting: provider !== undefined && (givenPipeline || config.exporter !== 'none'),
      forceFlush: async () => {
        const meterProvider = before.meterProvider === undefined ? metrics.getMeterProvider() : undefined;
        // The processors before the exports under way: theirs are among those, then.
        await allEnded([flush(provider), flush(meterProvider), guard.exportsSettled()]);
      },
      shutdown: async () => {
        const ended = shutDown(started);
        await allEnded([ended, guard.shutdownsSettled()]);
      },
      release: () => {
        guard.release();
        unregisterApis(before, after);
      },
    },
  };
}
