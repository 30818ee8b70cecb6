import { trace, type Tracer, type TracerProvider } from '@opentelemetry/api';
import { emitWarnings } from '../diagnostics/warnings.js';
import { registeredTracerProvider } from './otel-globals.js';
import type { InstrumentationLike } from './setup-options.js';

/**
 * Its tracers belong to no provider: the one that is registered when a span starts makes it, and without one there is no
 * span. (A tracer of the API's own proxy stays with the first provider that it has met, also when that was shut down.)
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

/** What the SDK calls on an instrumentation. One that isn't made with OpenTelemetry's base class may lack all but two. */
interface SdkInstrumentation extends InstrumentationLike {
  setTracerProvider?(provider: unknown): void;
  setMeterProvider?(provider: unknown): void;
  setLoggerProvider?(provider: unknown): void;
  getConfig?(): { enabled?: boolean };
}

/**
 * What the SDK gets for an instrumentation. One that throws costs itself and a warning, not the whole set-up.
 *
 * It makes its spans with whichever provider is in force. Instrumentations stay patched into what they instrument for as long
 * as the process lives: some keep the tracer that they had when they patched, and a patched ES module can't be taken back.
 * Missed by whoever sets up more than once in a process, as tests do: spans of the second set-up would go to the exporter of
 * the first, and in between they would be parents that nobody exports.
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
    // The SDK enables those of which this says that they are off.
    getConfig: () => attempt(() => instrumentation.getConfig?.()) ?? { enabled: false },
    enable: () => attempt(() => instrumentation.enable()),
    disable: () => attempt(() => instrumentation.disable()),
  };
}
