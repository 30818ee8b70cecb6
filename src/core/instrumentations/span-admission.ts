import { type Context, INVALID_SPANID, type Span, type SpanOptions } from '@opentelemetry/api';
import { countSpan } from '../spans/span-counts.js';
import { processState } from '../state/process-state.js';
import type { InstrumentationScope, SpanGate } from '../state/state-shape.js';
import type { InstrumentationGroups } from './instrumentation-groups.js';
import type { ScopeFamily } from './scope-family.js';

const { inFlight } = processState;

/** Marks a scope whose spans are not gated. */
const LEFT_ALONE = Symbol('left alone');

/** Finds the gate of each span of a tracer. */
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
   * @param tracer the tracer of the span
   * @param scope the tracer's scope; read once
   */
  gateOf(
    tracer: object,
    scope: InstrumentationScope,
    name: string,
    options: SpanOptions | undefined,
  ): SpanGate | undefined {
    // A span of NestLens was admitted by its site, whichever tracer the site has.
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
  return processState.isAdmitted?.(gate.name, scope.name, parent) ?? true;
}

/** Counts a new span, unless tracing is suppressed, because it records nothing then. */
export function countAdmitted({ name }: SpanGate, span: Span): void {
  const { spanCounts } = processState;
  // Measured: the API's check of a whole span context takes 150 ns.
  if (spanCounts !== undefined && span.spanContext().spanId !== INVALID_SPANID) countSpan(spanCounts, name);
}
