import * as api from '@opentelemetry/api';
import type { ProxyTracerProvider, TracerProvider } from '@opentelemetry/api';

const { context, diag, metrics, propagation, trace } = api;
/** The API has it since 1.10, so it can't be imported by name. */
const { logs } = api as unknown as { logs?: { disable(): void } };

/** The objects that are registered with OpenTelemetry's process-wide APIs; undefined if none is. */
export interface RegisteredApis {
  readonly tracerProvider: unknown;
  readonly meterProvider: unknown;
  readonly contextManager: unknown;
  readonly propagator: unknown;
  /** With SDK 2.x, the provider of `@opentelemetry/api-logs`. */
  readonly loggerProvider: unknown;
  readonly diagLogger: unknown;
}

/**
 * The slot in which `@opentelemetry/api` keeps registered objects, for all its copies of major version 1. Its own getters
 * return a no-op if nothing is registered, which only a class name tells from the real object, and bundlers change class
 * names.
 */
const API_SLOT = Symbol.for('opentelemetry.js.api.1');
/** The slot in which `@opentelemetry/api-logs`, which SDK 2.x uses, keeps its provider. */
const LOGS_SLOT = Symbol.for('io.opentelemetry.js.api.logs');

type ApiSlot = Readonly<
  Partial<Record<'trace' | 'metrics' | 'logs' | 'context' | 'propagation' | 'diag', unknown>>
>;

function apiSlot(): ApiSlot {
  return (globalThis as unknown as Record<symbol, ApiSlot | undefined>)[API_SLOT] ?? {};
}

/** The tracer provider behind the API's proxy, or undefined when none is registered. */
export function registeredTracerProvider(): TracerProvider | undefined {
  if (apiSlot().trace === undefined) return undefined;
  const provider = trace.getTracerProvider();
  return (provider as Partial<ProxyTracerProvider>).getDelegate?.() ?? provider;
}

/** Reads the registered objects without changing anything. */
export function registeredApis(): RegisteredApis {
  const slot = apiSlot();
  return {
    tracerProvider: slot.trace,
    meterProvider: slot.metrics,
    contextManager: slot.context,
    propagator: slot.propagation,
    loggerProvider: slot.logs ?? Reflect.get(globalThis, LOGS_SLOT),
    diagLogger: slot.diag,
  };
}

/**
 * Unregisters the objects that were registered between two looks, unless another program has replaced them since. The SDK's
 * own shutdown leaves its globals in place and refuses to start over them; without this, a second set-up in a process would
 * emit nothing.
 */
export function unregisterApis(before: RegisteredApis, after: RegisteredApis): void {
  const now = registeredApis();
  const isOurs = (api: keyof RegisteredApis): boolean =>
    before[api] === undefined && after[api] !== undefined && now[api] === after[api];
  if (isOurs('tracerProvider')) trace.disable();
  if (isOurs('meterProvider')) metrics.disable();
  if (isOurs('contextManager')) context.disable();
  if (isOurs('propagator')) propagation.disable();
  if (isOurs('loggerProvider')) {
    logs?.disable();
    Reflect.deleteProperty(globalThis, LOGS_SLOT);
  }
  if (isOurs('diagLogger')) diag.disable();
}
