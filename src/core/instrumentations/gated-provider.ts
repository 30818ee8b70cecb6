import {
  context as contexts,
  type Context,
  type ProxyTracerProvider,
  type Span,
  type SpanOptions,
  trace,
  type Tracer,
  type TracerOptions,
  type TracerProvider,
} from '@opentelemetry/api';
import type { TakeBack } from './take-back.js';
import { countAdmitted, offSpanFor, type SpanAdmission } from './span-admission.js';

/**
 * The fallback if the provider's tracers can't be gated by their prototype: a provider in front of it that gives out gated
 * tracers. Tracers that it gave out before stay ungated, except the API's own, which get their tracer at their first span.
 *
 * @returns undefined if the API has no place for another provider
 */
export function gateProvider(provider: TracerProvider, admission: SpanAdmission): TakeBack | undefined {
  const proxy = trace.getTracerProvider() as Partial<ProxyTracerProvider>;
  if (proxy.setDelegate === undefined || proxy.getDelegate?.() !== provider) return undefined;
  const gated = createGatedProvider(provider, admission);
  proxy.setDelegate(gated);
  return () => {
    if (proxy.getDelegate?.() === gated) proxy.setDelegate?.(provider);
  };
}

/** All other methods, such as flush and shutdown, are the provider's own. */
function createGatedProvider(provider: TracerProvider, admission: SpanAdmission): TracerProvider {
  return new Proxy(provider, {
    get(target, key) {
      if (key === 'getTracer') {
        return (name: string, version?: string, options?: TracerOptions): Tracer | undefined => {
          const tracer = provider.getTracer(name, version, options) as Tracer | undefined;
          // The API has one of its own for a provider that gives none.
          return tracer && createGatedTracer(tracer, { name, version }, admission);
        };
      }
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

function createGatedTracer(
  tracer: Tracer,
  instrumentationScope: { name: unknown; version: unknown },
  admission: SpanAdmission,
): Tracer {
  const scoped = { instrumentationScope };
  const gated: Tracer = {
    startSpan(name: string, options?: SpanOptions, parent?: Context): Span {
      const gate = admission.gateOf(scoped, name, options);
      const instead = gate && offSpanFor(gate, scoped, options, parent);
      if (instead !== undefined) return instead;
      const span = tracer.startSpan(name, options, parent);
      if (gate !== undefined) countAdmitted(gate, span);
      return span;
    },
    startActiveSpan(name: string, ...rest: unknown[]): never {
      const work = rest.pop() as (span: Span) => never;
      const [options, given] = rest as [SpanOptions?, Context?];
      const parent = given ?? contexts.active();
      const span = gated.startSpan(name, options, parent);
      return contexts.with(trace.setSpan(parent, span), work, undefined, span);
    },
  };
  return gated;
}
