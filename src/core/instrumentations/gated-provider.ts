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
import { processState } from '../state/process-state.js';
import type { ProviderGate } from '../state/state-shape.js';
import type { TakeBack } from './take-back.js';
import { countAdmitted, offSpanFor, type SpanAdmission } from './span-admission.js';

/**
 * The fallback if the provider's tracers can't be gated by their prototype: a provider in front of it that gives out gated
 * tracers. Tracers that it gave out before stay ungated, except the API's own, which get their tracer at their first span. Gated
 * tracers last longer than a set-up, and are gated again by the next one.
 *
 * @returns undefined if the API has no place for another provider
 */
export function gateProvider(provider: TracerProvider, admission: SpanAdmission): TakeBack | undefined {
  const proxy = trace.getTracerProvider() as Partial<ProxyTracerProvider>;
  if (proxy.setDelegate === undefined || proxy.getDelegate?.() !== provider) return undefined;
  const gate = gateOfProvider(provider);
  const gated = createGatedProvider(provider, gate);
  gate.startSpan = (tracer, name, options, parent) => {
    const group = admission.gateOf(tracer, name, options);
    const instead = group && offSpanFor(group, tracer, options, parent);
    if (instead !== undefined) return instead;
    const span = tracer.original.startSpan(name, options, parent);
    if (group !== undefined) countAdmitted(group, span);
    return span;
  };
  proxy.setDelegate(gated);
  return () => {
    gate.startSpan = undefined;
    if (proxy.getDelegate?.() === gated) proxy.setDelegate?.(provider);
  };
}

function gateOfProvider(provider: TracerProvider): ProviderGate {
  const { providerGates } = processState;
  let gate = providerGates.get(provider);
  if (gate === undefined) providerGates.set(provider, (gate = { startSpan: undefined }));
  return gate;
}

/** All other methods, such as flush and shutdown, are the provider's own. */
function createGatedProvider(provider: TracerProvider, gate: ProviderGate): TracerProvider {
  return new Proxy(provider, {
    get(target, key) {
      if (key === 'getTracer') {
        return (name: string, version?: string, options?: TracerOptions): Tracer | undefined => {
          const tracer = provider.getTracer(name, version, options) as Tracer | undefined;
          // The API has one of its own for a provider that gives none.
          return tracer && createGatedTracer(tracer, { name, version }, gate);
        };
      }
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

function createGatedTracer(
  original: Tracer,
  instrumentationScope: { name: unknown; version: unknown },
  gate: ProviderGate,
): Tracer {
  const scoped = { original, instrumentationScope };
  const gated: Tracer = {
    startSpan(name: string, options?: SpanOptions, parent?: Context): Span {
      if (gate.startSpan === undefined) return original.startSpan(name, options, parent);
      return gate.startSpan(scoped, name, options, parent);
    },
    startActiveSpan(name: string, ...rest: unknown[]): never {
      if (gate.startSpan === undefined) return original.startActiveSpan(name, ...(rest as [never]));
      const work = rest.pop() as (span: Span) => never;
      const [options, given] = rest as [SpanOptions?, Context?];
      const parent = given ?? contexts.active();
      const span = gated.startSpan(name, options, parent);
      return contexts.with(trace.setSpan(parent, span), work, undefined, span);
    },
  };
  return gated;
}
