import { type Context, INVALID_SPANID, type Span, type SpanOptions } from '@opentelemetry/api';
import { isAdmitted } from '../groups/admission.js';
import { countSpan } from '../spans/span-counts.js';
import { processState } from '../state/process-state.js';
import type { InstrumentationScope, SpanGate } from '../state/state-shape.js';
import type { InstrumentationGroups } from './instrumentation-groups.js';
import type { ScopeFamily } from './scope-family.js';

const { inFlight } = processState;

/** Stands for the family of a scope whose spans are not gated. */
const LEFT_ALONE = Symbol('left alone');

/** Knows which gate the spans of a tracer are behind. */
export class SpanAdmission {
  /** Looked up for each span, so by the tracer: its scope's name would have to be hashed with its version. */
  private readonly families = new WeakMap<object, ScopeFamily | typeof LEFT_ALONE>();

  private isClosed = false;

  constructor(private readonly groups: InstrumentationGroups) {}

  /** From now on nothing is gated. */
  close(): void {
    this.isClosed = true;
  }

  /**
   * The gate of a span that is asked for; undefined for one that isn't gated.
   *
   * @param tracer whoever is asked for the span
   * @param scope the tracer's scope; looked at once
   */
  gateOf(
    tracer: object,
    scope: InstrumentationScope,
    name: string,
    options: SpanOptions | undefined,
  ): SpanGate | undefined {
    // What NestLens starts has been admitted by its site, whatever tracer that was given.
    if (inFlight.isStartingOwn || this.isClosed) return undefined;
    const family = this.families.get(tracer) ?? this.learn(tracer, scope);
    return family === LEFT_ALONE ? undefined : family.gateOf(name, options?.kind);
  }

  private learn(tracer: object, scope: InstrumentationScope): ScopeFamily | typeof LEFT_ALONE {
    const family = this.groups.familyOf(scope) ?? LEFT_ALONE;
    this.families.set(tracer, family);
    return family;
  }
}

/** Whether a span behind a gate is made, here and now. */
export function isSpanAdmitted(
  gate: SpanGate,
  scope: InstrumentationScope,
  parent: Context | undefined,
): boolean {
  if (!gate.enabled) return false;
  return !processState.isAdmissionAsked || isAdmitted(gate.name, scope.name, parent);
}

/** Counts a span that was made, unless tracing is suppressed where it was asked for: then it is none. */
export function countAdmitted({ name }: SpanGate, span: Span): void {
  const { spanCounts } = processState;
  // Measured: the API's check of a whole span context takes 150 ns.
  if (spanCounts !== undefined && span.spanContext().spanId !== INVALID_SPANID) countSpan(spanCounts, name);
}
