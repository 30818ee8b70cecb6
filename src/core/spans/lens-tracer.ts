import { type ProxyTracerProvider, trace, type Tracer, type TracerProvider } from '@opentelemetry/api';
import { VERSION } from '../state/version.js';

/** The instrumentation scope of every span that NestLens makes. */
export const SCOPE_NAME = 'nest-lens';

let cachedFrom: TracerProvider | undefined;
let cached: Tracer | undefined;

/**
 * The tracer of the provider that is registered now.
 *
 * It is cached, because `getTracer` costs about 50 ns. The cache ends with the provider: after a shutdown and a new set-up,
 * an old tracer would give its spans to the provider that was shut down. The API gives out a proxy, which may outlive a
 * provider, because each bundled copy of the API keeps its own proxy.
 */
export function lensTracer(): Tracer {
  const registered = trace.getTracerProvider();
  const provider = (registered as Partial<ProxyTracerProvider>).getDelegate?.() ?? registered;
  if (cached === undefined || cachedFrom !== provider) {
    cachedFrom = provider;
    cached = provider.getTracer(SCOPE_NAME, VERSION);
  }
  return cached;
}
