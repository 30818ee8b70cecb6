import { trace, type Tracer, type TracerProvider } from '@opentelemetry/api';
import { emitWarnings } from '../diagnostics/warnings.js';
import { registeredTracerProvider } from './otel-globals.js';
import type { InstrumentationLike } from './setup-options.js';

/**
 * A provider whose tracers use the provider that is registered when a span starts; without one there is no span. The API's
 * own proxy doesn't do that: its tracers stay with their first provider, even after its shutdown.
 */
const FOLLOWING_PROVIDER: TracerProvider = {
  getTracer(name, version, options) {
    let knownProvider: TracerProvider | undefined;
    let known: Tracer | undefined;
    const current = (): Tracer => {
      const provider = registeredTracerProvider() ?? trace.getTracerProvider();
      if (known === undefined || provider !== knownProvider) {
        knownProvider = provider;
        known = provider.getTracer(name, version, options);
      }
      return known;
    };
    const startActiveSpan = (...args: Parameters<Tracer['startActiveSpan']>): unknown =>
      current().startActiveSpan(...args);
    return {
      startSpan: (...args) => current().startSpan(...args),
      startActiveSpan: startActiveSpan as Tracer['startActiveSpan'],
    };
  },
};

/** The members that the SDK calls on an instrumentation. One without OpenTelemetry's base class may lack all but two. */
interface SdkInstrumentation extends InstrumentationLike {
  setTracerProvider?(provider: unknown): void;
  setMeterProvider?(provider: unknown): void;
  setLoggerProvider?(provider: unknown): void;
  getConfig?(): { enabled?: boolean };
}

/**
 * The object that the SDK gets for an instrumentation. If the instrumentation throws, a warning says so and the set-up goes
 * on.
 *
 * It makes its spans with the provider in force, because its patches stay for as long as the process lives: some
 * instrumentations keep the tracer that they had when they patched, and a patched ES module can't be restored. In a process
 * with more than one set-up, such as a test, spans of the second set-up would otherwise go to the exporter of the first.
 * Between the two, they would be parents that nobody exports.
 */
export function instrumentationForSdk(instrumentation: SdkInstrumentation): SdkInstrumentation {
  const { instrumentationName } = instrumentation;
  let hasFailed = false;
  const attempt = <T>(call: () => T): T | undefined => {
    try {
      return call();
    } catch (error) {
      const details = { instrumentation: instrumentationName, error };
      if (!hasFailed) emitWarnings([{ code: 'INSTRUMENTATION_FAILED', details }]);
      hasFailed = true;
      return undefined;
    }
  };
  return {
    instrumentationName,
    setTracerProvider: () => attempt(() => instrumentation.setTracerProvider?.(FOLLOWING_PROVIDER)),
    setMeterProvider: (provider) => attempt(() => instrumentation.setMeterProvider?.(provider)),
    setLoggerProvider: (provider) => attempt(() => instrumentation.setLoggerProvider?.(provider)),
    // The SDK enables instrumentations whose config says that they are off.
    getConfig: () => attempt(() => instrumentation.getConfig?.()) ?? { enabled: false },
    enable: () => attempt(() => instrumentation.enable()),
    disable: () => attempt(() => instrumentation.disable()),
  };
}
