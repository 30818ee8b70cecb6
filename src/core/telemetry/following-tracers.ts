import { trace, type Tracer, type TracerProvider } from '@opentelemetry/api';
import { registeredTracerProvider } from './otel-globals.js';
import type { InstrumentationLike } from './setup-options.js';

/** The part of OpenTelemetry's base class that is called here; an instrumentation may lack it. */
interface TracedInstrumentation extends InstrumentationLike {
  setTracerProvider?(provider: TracerProvider): void;
}

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

/**
 * Has instrumentations make their spans with whichever provider is in force. They stay patched into what they instrument
 * for as long as the process lives: some keep the tracer that they had when they patched, and a patched ES module can't be
 * taken back. Missed by whoever sets up more than once in a process, as tests do: spans of the second set-up would go to
 * the exporter of the first, and in between they would be parents that nobody exports.
 */
export function followRegisteredProvider(instrumentations: readonly InstrumentationLike[]): void {
  for (const instrumentation of instrumentations as readonly TracedInstrumentation[]) {
    instrumentation.setTracerProvider?.(FOLLOWING_PROVIDER);
  }
}
