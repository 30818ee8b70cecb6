import type { Context, Span, SpanOptions, Tracer, TracerProvider } from '@opentelemetry/api';
import { SCOPE_NAME } from '../spans/lens-tracer.js';
import type { ScopedTracer } from '../state/state-shape.js';
import { offSpanOf, withoutOffSpan } from './off-span.js';
import { putBefore } from './put-before.js';
import { readScope } from './read-scope.js';
import { countAdmitted, offSpanFor, type SpanAdmission } from './span-admission.js';
import type { TakeBack } from './take-back.js';

/**
 * The SDK's tracers have the public field `instrumentationScope`, which the API's interface lacks. Seen in SDK 2.0 to 2.12
 * and in 3.1.
 */
type SdkTracer = Tracer & ScopedTracer;

/**
 * Puts the gate before `startSpan` of all tracers of a provider, on their common prototype. So it works for tracers that
 * instrumentations took earlier, too.
 *
 * @returns undefined if the tracers have no such prototype or no scope
 */
export function gateTracers(provider: TracerProvider, admission: SpanAdmission): TakeBack | undefined {
  const prototype = prototypeOfTracers(provider);
  if (prototype === undefined) return undefined;
  return putBefore(
    prototype,
    'startSpan',
    (original: Tracer['startSpan']) =>
      function startSpan(this: SdkTracer, name: string, options?: SpanOptions, parent?: Context): Span {
        const gate = admission.gateOf(this, name, options);
        const instead = gate && offSpanFor(gate, this, options, parent);
        if (instead !== undefined) return instead;
        const off = offSpanOf(parent);
        const outer = off === undefined ? parent : withoutOffSpan(parent!, off);
        const span = original.call(this, name, options, outer);
        if (gate !== undefined) countAdmitted(gate, span);
        return span;
      },
  );
}

/** The prototype of a provider's tracers, if they know their scope. Another vendor's provider may give no tracer, or throw. */
function prototypeOfTracers(provider: TracerProvider): object | undefined {
  try {
    const sample = provider.getTracer(SCOPE_NAME) as Partial<SdkTracer>;
    const { name } = readScope(sample.instrumentationScope);
    if (name !== SCOPE_NAME || Object.hasOwn(sample, 'startSpan')) return undefined;
    return (Object.getPrototypeOf(sample) as object | null) ?? undefined;
  } catch {
    return undefined;
  }
}
