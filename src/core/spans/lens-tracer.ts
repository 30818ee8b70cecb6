import { type ProxyTracerProvider, trace, type Tracer, type TracerProvider } from '@opentelemetry/api';
import { VERSION } from '../state/version.js';

/** The instrumentation scope of every span that NestLens makes. */
export const SCOPE_NAME = 'nest-lens';

let cachedFrom: TracerProvider | undefined;
let cached: Tracer | undefined;

/**
 * The tracer of the provider that is registered now.
 *
 * Cached, since `getTracer` costs about 50 ns, but only as long as the provider stays the same: a tracer taken before a
 * shutdown and a new set-up goes on feeding the dead provider. What the API hands out is a proxy, which may outlive a provider:
 * the SDK's copy of the API keeps its own where NestLens is bundled with another copy.
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
