import {
  type Context,
  context as contexts,
  INVALID_SPANID,
  type Span,
  type SpanOptions,
} from '@opentelemetry/api';
import { emitOnce } from '../diagnostics/emit-once.js';
import { countSpan } from '../spans/span-counts.js';
import { processState } from '../state/process-state.js';
import type { ScopedTracer, SpanGate } from '../state/state-shape.js';
import type { InstrumentationGroups } from './instrumentation-groups.js';
import { createOffSpan, type OffSpan } from './off-span.js';
import { readScope } from './read-scope.js';
import type { ScopeFamily } from './scope-family.js';

const { inFlight } = processState;

/** Marks a scope whose spans are not gated. */
const LEFT_ALONE = Symbol('left alone');

/** Finds the gate of each span of a tracer. Whatever fails here, the application gets the span that it would get without NestLens. */
export class SpanAdmission {
  /** The key is the tracer, because this is read for each span, and hashing the scope's name and version would be slower. */
  private readonly families = new WeakMap<object, ScopeFamily | typeof LEFT_ALONE>();

  private isClosed = false;

  constructor(private readonly groups: InstrumentationGroups) {}

  /** Stops gating. */
  close(): void {
    this.isClosed = true;
  }

  /**
   * The gate of a new span; undefined if it isn't gated.
   *
   * @param tracer the tracer of the span; its scope is read once
   */
  gateOf(tracer: ScopedTracer, name: string, options: SpanOptions | undefined): SpanGate | undefined {
    // A span of NestLens was admitted by its site, whichever tracer the site has.
    if (inFlight.isStartingOwn || this.isClosed) return undefined;
    try {
      const family = this.families.get(tracer) ?? this.learn(tracer);
      return family === LEFT_ALONE ? undefined : family.gateOf(name, options?.kind);
    } catch (error) {
      reportFailure(error);
      return undefined;
    }
  }

  private learn(tracer: ScopedTracer): ScopeFamily | typeof LEFT_ALONE {
    const family = this.groups.familyOf(readScope(tracer.instrumentationScope)) ?? LEFT_ALONE;
    this.families.set(tracer, family);
    return family;
  }
}

/** The off span to give in place of a span; undefined if the span is to be made, here and now. */
export function offSpanFor(
  gate: SpanGate,
  tracer: ScopedTracer,
  options: SpanOptions | undefined,
  parent: Context | undefined,
): OffSpan | undefined {
  try {
    if (gate.enabled) {
      const { isAdmitted } = processState;
      if (isAdmitted === undefined) return undefined;
      if (isAdmitted(gate.name, readScope(tracer.instrumentationScope).name, parent)) return undefined;
    }
    return createOffSpan(parent ?? contexts.active(), options?.root === true);
  } catch (error) {
    reportFailure(error);
    return undefined;
  }
}

/** Counts a new span, unless tracing is suppressed, because it records nothing then. */
export function countAdmitted({ name }: SpanGate, span: Span): void {
  const { spanCounts } = processState;
  if (spanCounts === undefined) return;
  try {
    // Measured: the API's check of a whole span context takes 150 ns.
    if (span.spanContext().spanId !== INVALID_SPANID) countSpan(spanCounts, name);
  } catch {
    // What another vendor's tracer has given is no span, so it isn't counted.
  }
}

/** What the application or another vendor gives can throw where it is read: a getter, a proxy. */
function reportFailure(error: unknown): void {
  emitOnce('', {
    code: 'INSTRUMENTATIONS_UNGATED',
    details: { spans: 'failed gates', isOffSpanActive: false, error },
  });
}
