import {
  type Context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  trace,
} from '@opentelemetry/api';
import { emitOnce } from '../../core/diagnostics/emit-once.js';
import { withOptedInGroups } from '../../core/groups/opted-in-groups.js';
import { CARRIER_GETTER } from '../../core/spans/carrier.js';
import { ignoreRejection } from '../../core/spans/ignore-rejection.js';
import type { SpanPlan } from '../../core/spans/span-plan.js';
import type { SpanGroupOptions } from './span-group-metadata.js';

/** Only the caller's trace counts here; other headers, such as the opt-in, aren't read. */
const TRACE_ONLY = withOptedInGroups(ROOT_CONTEXT, new Set());

/**
 * The caller's span that the headers name, if any. Their baggage isn't taken, so the context keeps the application's. It
 * throws the errors of the propagator, or of a proxy.
 */
export function readCaller(headers: object): SpanContext | undefined {
  return trace.getSpanContext(propagation.extract(TRACE_ONLY, headers, CARRIER_GETTER));
}

/** Joins a call to the trace of its `carrier`: as the parent if no span is active, else by a link. */
export function joinCaller(
  plan: SpanPlan,
  options: SpanGroupOptions,
  args: readonly unknown[],
  outside: Context,
): { plan: SpanPlan; parent: Context } {
  const caller = callerOf(plan.name, options, args);
  if (caller === undefined) return { plan, parent: outside };
  const active = trace.getSpanContext(outside);
  if (active === undefined) return { plan, parent: trace.setSpanContext(outside, caller) };
  // If the application has made the caller's context active, the caller's span is the parent already.
  const links = active.spanId === caller.spanId ? undefined : [{ context: caller }];
  return { plan: { ...plan, links }, parent: outside };
}

/** Links a span to the trace of its call's `carrier`, if the span was made before the arguments were known. */
export function linkCaller(
  span: Span,
  spanName: string,
  options: SpanGroupOptions,
  args: readonly unknown[],
): void {
  const caller = callerOf(spanName, options, args);
  if (caller !== undefined) span.addLink({ context: caller });
}

function callerOf(
  spanName: string,
  { carrier }: SpanGroupOptions,
  args: readonly unknown[],
): SpanContext | undefined {
  if (carrier === undefined) return undefined;
  try {
    const headers: unknown = carrier(...args);
    ignoreRejection(headers);
    return typeof headers === 'object' && headers !== null ? readCaller(headers) : undefined;
  } catch (error) {
    emitOnce(spanName, { code: 'CARRIER_FAILED', details: { span: spanName, error } });
    return undefined;
  }
}
