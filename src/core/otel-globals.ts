import * as api from '@opentelemetry/api';
import type { ProxyTracerProvider, TracerProvider } from '@opentelemetry/api';

const { context, metrics, propagation, trace } = api;
/** Part of the API from 1.10 on, so it can't be imported by name. */
const { logs } = api as unknown as { logs?: { disable(): void } };

/** Which of OpenTelemetry's process-wide APIs somebody has registered an implementation with. */
export interface RegisteredApis {
  readonly tracerProvider: boolean;
  readonly meterProvider: boolean;
  readonly contextManager: boolean;
  readonly propagator: boolean;
  readonly loggerProvider: boolean;
}

/**
 * Where `@opentelemetry/api` keeps what is registered, for all its copies of major version 1. Its own getters answer with a
 * no-op where nothing is, which can be told from the real thing only by a class name, and bundlers change those.
 */
const API_SLOT = Symbol.for('opentelemetry.js.api.1');
/** Where `@opentelemetry/api-logs`, which SDK 2.x uses, keeps its provider. */
const LOGS_SLOT = Symbol.for('io.opentelemetry.js.api.logs');

type ApiSlot = Readonly<Partial<Record<'trace' | 'metrics' | 'logs' | 'context' | 'propagation', unknown>>>;

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
    tracerProvider: slot.trace !== undefined,
    meterProvider: slot.metrics !== undefined,
    contextManager: slot.context !== undefined,
    propagator: slot.propagation !== undefined,
    loggerProvider: slot.logs !== undefined || Reflect.has(globalThis, LOGS_SLOT),
  };
}

/**
 * Unregisters what has been registered since `before`. The SDK's own shutdown leaves its globals in place, and refuses to
 * be started over them; without this a second set-up in a process would emit nothing.
 */
export function unregisterApisSince(before: RegisteredApis): void {
  if (!before.tracerProvider) trace.disable();
  if (!before.meterProvider) metrics.disable();
  if (!before.contextManager) context.disable();
  if (!before.propagator) propagation.disable();
  if (!before.loggerProvider) {
    logs?.disable();
    Reflect.deleteProperty(globalThis, LOGS_SLOT);
  }
}
