import * as api from '@opentelemetry/api';
import type { ProxyTracerProvider, TracerProvider } from '@opentelemetry/api';

const { context, diag, metrics, propagation, trace } = api;
/** Part of the API from 1.10 on, so it can't be imported by name. */
const { logs } = api as unknown as { logs?: { disable(): void } };

/** What somebody has registered with OpenTelemetry's process-wide APIs; undefined where nobody has. */
export interface RegisteredApis {
  readonly tracerProvider: unknown;
  readonly meterProvider: unknown;
  readonly contextManager: unknown;
  readonly propagator: unknown;
  /** With SDK 2.x that of `@opentelemetry/api-logs`. */
  readonly loggerProvider: unknown;
  readonly diagLogger: unknown;
}

/**
 * Where `@opentelemetry/api` keeps what is registered, for all its copies of major version 1. Its own getters answer with a
 * no-op where nothing is, which can be told from the real thing only by a class name, and bundlers change those.
 */
const API_SLOT = Symbol.for('opentelemetry.js.api.1');
/** Where `@opentelemetry/api-logs`, which SDK 2.x uses, keeps its provider. */
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

/** Looks at what is registered now, without changing it. */
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
 * Unregisters what was registered between two looks, and still is: what somebody else has put there since then stays. The
 * SDK's own shutdown leaves its globals in place, and refuses to be started over them; without this a second set-up in a
 * process would emit nothing.
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
