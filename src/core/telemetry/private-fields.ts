import type { InstrumentationScope } from '../state/state-shape.js';
import type { InstrumentationLike, SpanExporterLike, SpanProcessorLike } from './setup-options.js';

/*
 * Every private field of the SDK and of instrumentations that NestLens reads, with the public way that is missing. All were
 * seen in each SDK from 2.0.0 to 2.12.0 (`sdk-node` 0.200.0 to 0.223.0) and in 3.0.0 and 3.1.0 (0.300.0 and 0.301.0). What
 * is not as expected here reads as `undefined`; whoever asked says with `SDK_UNKNOWN_SHAPE` what doesn't work then.
 */

/**
 * `_activeSpanProcessor._spanProcessors` of a tracer provider: the processors that the SDK has made from its variables, in a
 * list that can be added to. Public would be a way to add a processor beside them. `addSpanProcessor` was removed in 2.0, and
 * the `spanProcessors` option replaces them. See https://github.com/open-telemetry/opentelemetry-js/issues/5299
 */
export function processorsOf(provider: object): SpanProcessorLike[] | undefined {
  const { _activeSpanProcessor: active } = provider as {
    _activeSpanProcessor?: { _spanProcessors?: SpanProcessorLike[] };
  };
  const processors = active?._spanProcessors;
  return Array.isArray(processors) && !Object.isFrozen(processors) ? processors : undefined;
}

/**
 * `_exporter` of a span processor: the one that it exports to, made by the SDK or given by the application. Public would be a
 * way to hear what became of an export. See https://github.com/open-telemetry/opentelemetry-js/issues/5299
 *
 * @param replacement is asked for what stands in its place from now on
 * @returns whether there was one
 */
export function replaceExporter(
  processor: SpanProcessorLike,
  replacement: (exporter: SpanExporterLike) => SpanExporterLike,
): boolean {
  const { _exporter: exporter } = processor as { _exporter?: Partial<SpanExporterLike> | null };
  if (typeof exporter?.export !== 'function' || typeof exporter.shutdown !== 'function') return false;
  return Reflect.set(processor, '_exporter', replacement(exporter as SpanExporterLike));
}

/**
 * `_finishedSpans` of a batch processor: the spans that wait. Public would be a way to hear of a span that is dropped since the
 * queue is full; the SDK tells its logger only. See https://github.com/open-telemetry/opentelemetry-js/pull/3610. Other
 * processors have no queue.
 */
export function queueOf(processor: SpanProcessorLike): readonly unknown[] | undefined {
  const { _finishedSpans: queue } = processor as { _finishedSpans?: unknown };
  return Array.isArray(queue) ? queue : undefined;
}

/**
 * `_tracers` of a tracer provider: the tracers that it has made, from which follows what has asked for one. Public would be a way
 * to list them, or a configurator of tracers, as OpenTelemetry's specification has it and JavaScript hasn't.
 */
export function scopesOf(provider: object): InstrumentationScope[] {
  const { _tracers: tracers } = provider as { _tracers?: unknown };
  if (!(tracers instanceof Map)) return [];
  return [...(tracers as Map<unknown, { instrumentationScope?: unknown } | null>).values()].flatMap(
    (tracer) => {
      const { name, version } = (tracer?.instrumentationScope ?? {}) as Partial<
        Record<'name' | 'version', unknown>
      >;
      if (typeof name !== 'string' || name === '') return [];
      return [{ name, version: typeof version === 'string' ? version : undefined }];
    },
  );
}

/** A module that an instrumentation patches while it is loaded. */
export interface PatchedModule {
  readonly name: string;
  /** Whether files inside the package are patched, not only what its main file exports. */
  readonly hasFiles: boolean;
  /** Whether the instrumentation has got hold of it, or of one of the files, while it was loaded. */
  readonly isSeen: boolean;
}

interface ModuleDefinition {
  readonly name?: unknown;
  readonly files?: unknown;
  /** What the module exports, as soon as the instrumentation has got hold of it. A file inside it has the same. */
  readonly moduleExports?: unknown;
}

/**
 * `_modules` of an instrumentation: what it patches, and what it has got hold of. There is a public way to the one,
 * `getModuleDefinitions()`, which is experimental and makes everything anew, and none to the other. An instrumentation that
 * isn't made with OpenTelemetry's base class has no such list.
 */
export function patchedModules(instrumentation: InstrumentationLike): PatchedModule[] | undefined {
  const { _modules: modules } = instrumentation as { _modules?: unknown };
  if (!Array.isArray(modules)) return undefined;
  return (modules as (ModuleDefinition | null | undefined)[]).flatMap((definition) => {
    const name = definition?.name;
    if (typeof name !== 'string') return [];
    const files = Array.isArray(definition?.files) ? (definition.files as ModuleDefinition[]) : [];
    const isSeen = [definition, ...files].some((part) => part?.moduleExports !== undefined);
    return [{ name, hasFiles: files.length > 0, isSeen }];
  });
}

/** Whether the list should be there: an instrumentation that is made with the base class says by `init` what it patches. */
export function shouldHaveModules(instrumentation: InstrumentationLike): boolean {
  return typeof (instrumentation as { init?: unknown }).init === 'function';
}
