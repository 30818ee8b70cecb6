import {
  context,
  createContextKey,
  metrics,
  propagation,
  ProxyTracerProvider,
  ROOT_CONTEXT,
  trace,
} from '@opentelemetry/api';
import type { MeterProvider, TracerProvider } from '@opentelemetry/api';

/** Which of OpenTelemetry's process-wide APIs somebody has registered an implementation with. */
export interface RegisteredApis {
  readonly tracerProvider: boolean;
  readonly meterProvider: boolean;
  readonly contextManager: boolean;
  readonly propagator: boolean;
  readonly loggerProvider: boolean;
}

const PROBE_KEY = createContextKey('nest-lens probe');
/** Where `@opentelemetry/api-logs` keeps its provider. NestLens doesn't depend on that package, but the SDK registers one. */
const LOGS_SLOT = Symbol.for('io.opentelemetry.js.api.logs');

const NOOP_TRACER_PROVIDER: TracerProvider = new ProxyTracerProvider().getDelegate();

/** The tracer provider behind the API's proxy, or undefined when none is registered. */
export function registeredTracerProvider(): TracerProvider | undefined {
  const provider = trace.getTracerProvider();
  const delegate = (provider as Partial<ProxyTracerProvider>).getDelegate?.() ?? provider;
  // Another copy of the API has a no-op provider of its own, of the same class name.
  return delegate === NOOP_TRACER_PROVIDER || delegate.constructor.name === 'NoopTracerProvider'
    ? undefined
    : delegate;
}

function isMeterProviderRegistered(): boolean {
  const provider: MeterProvider = metrics.getMeterProvider();
  return provider.constructor.name !== 'NoopMeterProvider';
}

function isContextManagerRegistered(): boolean {
  return context.with(
    ROOT_CONTEXT.setValue(PROBE_KEY, true),
    () => context.active().getValue(PROBE_KEY) === true,
  );
}

/** Looks at what is registered now, without changing it. */
export function registeredApis(): RegisteredApis {
  return {
    tracerProvider: registeredTracerProvider() !== undefined,
    meterProvider: isMeterProviderRegistered(),
    contextManager: isContextManagerRegistered(),
    propagator: propagation.fields().length > 0,
    loggerProvider: Reflect.has(globalThis, LOGS_SLOT),
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
  if (!before.loggerProvider) Reflect.deleteProperty(globalThis, LOGS_SLOT);
}
