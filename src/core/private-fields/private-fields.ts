import type { Context } from '@opentelemetry/api';
import type { InstrumentationScope } from '../state/state-shape.js';

/*
 * Every private field of others that NestLens reads, with the missing public way: lint allows such a read nowhere else.
 *
 * Those of the SDK and of instrumentations were seen in each SDK from 2.0.0 to 2.12.0 (`sdk-node` 0.200.0 to 0.223.0) and in
 * 3.0.0 and 3.1.0 (0.300.0 and 0.301.0). If a field is not as expected, it reads as `undefined`. The caller then warns with
 * `SDK_UNKNOWN_SHAPE` what doesn't work, or does without what the field would have saved.
 */

/**
 * `_activeSpanProcessor._spanProcessors` of a tracer provider: the processors that the SDK has made from its variables, in a
 * list that can be added to. The missing public way is a method to add a processor. `addSpanProcessor` was removed in 2.0,
 * and the `spanProcessors` option replaces them. See https://github.com/open-telemetry/opentelemetry-js/issues/5299
 */
export function processorsOf<P>(provider: object): P[] | undefined {
  const { _activeSpanProcessor: active } = provider as { _activeSpanProcessor?: { _spanProcessors?: P[] } };
  const processors = active?._spanProcessors;
  return Array.isArray(processors) && !Object.isFrozen(processors) ? processors : undefined;
}

/**
 * `_exporter` of a span processor: its exporter, made by the SDK or given by the application. The missing public way is an
 * event with the result of an export. See https://github.com/open-telemetry/opentelemetry-js/issues/5299
 *
 * @param replacement makes the object that replaces it
 * @returns whether the processor has such a field
 */
export function replaceExporter<E extends object>(
  processor: object,
  replacement: (exporter: E) => E,
): boolean {
  const { _exporter: exporter } = processor as {
    _exporter?: { export?: unknown; shutdown?: unknown } | null;
  };
  if (typeof exporter?.export !== 'function' || typeof exporter.shutdown !== 'function') return false;
  return Reflect.set(processor, '_exporter', replacement(exporter as E));
}

/**
 * `_finishedSpans` of a batch processor: the waiting spans. The missing public way is an event for spans that are dropped
 * because the queue is full; the SDK tells only its logger. See https://github.com/open-telemetry/opentelemetry-js/pull/3610.
 * Other processors have no queue.
 */
export function queueOf(processor: object): readonly unknown[] | undefined {
  const { _finishedSpans: queue } = processor as { _finishedSpans?: unknown };
  return Array.isArray(queue) ? queue : undefined;
}

/**
 * `_tracers` of a tracer provider: the tracers that it has made, which show the libraries that took one. The missing public
 * way is a list of them, or a configurator of tracers, which OpenTelemetry's specification has and JavaScript lacks.
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

/** A module that an instrumentation patches when it is loaded. */
export interface PatchedModule {
  readonly name: string;
  /** Whether files inside the package are patched, not only what its main file exports. */
  readonly hasFiles: boolean;
  /** Whether the instrumentation has patched the module, or one of its files. */
  readonly isSeen: boolean;
}

interface ModuleDefinition {
  readonly name?: unknown;
  readonly files?: unknown;
  /** The module's exports, as soon as the instrumentation has patched it. A file inside it has the same field. */
  readonly moduleExports?: unknown;
}

/**
 * `_modules` of an instrumentation: the modules that it patches, and which of them it has patched. The public
 * `getModuleDefinitions()` gives only the first, is experimental, and makes everything anew. An instrumentation without
 * OpenTelemetry's base class has no such list.
 */
export function patchedModules(instrumentation: object): PatchedModule[] | undefined {
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

/** Whether the list should exist: an instrumentation with the base class defines its modules in `init`. */
export function shouldHaveModules(instrumentation: object): boolean {
  return typeof (instrumentation as { init?: unknown }).init === 'function';
}

/**
 * `_performanceStartTime` of a span: its start by the monotonic clock. The public `startTime` is in whole milliseconds, so
 * the steps of a fast request would seem to begin together. The missing public way is a `startTime` as exact as `duration`.
 * Undefined for a span whose start the application has given, too.
 */
export function performanceStart(span: object): number | undefined {
  const { _performanceStartTime: start, _startTimeProvided: isGiven } = span as {
    _performanceStartTime?: unknown;
    _startTimeProvided?: unknown;
  };
  return typeof start === 'number' && Number.isFinite(start) && isGiven !== true ? start : undefined;
}

/** The same field for a copy of a span, which is read like the span itself. */
export function withPerformanceStart(span: object): object {
  return { _performanceStartTime: performanceStart(span) };
}

/**
 * `_currentContext` of a context of the API: its entries in a map. The missing public way is a method to list them. Seen in
 * 1.9 and 1.10.
 */
export function entriesOf(context: Context): ReadonlyMap<symbol, unknown> | undefined {
  const { _currentContext: entries } = context as { _currentContext?: unknown };
  return entries instanceof Map ? (entries as ReadonlyMap<symbol, unknown>) : undefined;
}

/**
 * `container` of Nest's `ModuleRef`, a protected field: seen in 11.0 to 12.5. The public way is to inject `ModulesContainer`,
 * which is a `Map`. But if an `instanceDecorator` replaces every provider by a bare proxy or an inheriting object, the
 * methods of `Map` fail on it, as in Nest's own `DiscoveryService`. Without the field it returns what was injected.
 *
 * @param given what was injected
 */
export function modulesContainerOf<C extends { has(key: string): boolean }>(given: C, module: object): C {
  try {
    given.has('');
    return given;
  } catch {
    const { container } = module as { container?: { getModules?(): C } };
    return container?.getModules?.() ?? given;
  }
}
