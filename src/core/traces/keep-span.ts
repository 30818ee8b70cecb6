import { SpanStatusCode } from '@opentelemetry/api';
import type { KeptSpan, RecentTrace, RecentTraces } from '../state/recent-traces-state.js';
import { boundedAttributes, boundedText, bytesOfAttributes } from './bounded-attributes.js';
import { isLocalRoot } from './is-local-root.js';
import { withPerformanceStart } from '../private-fields/private-fields.js';

/** The most memory for all traces, roughly, in bytes. */
const MAX_BYTES = 16_000_000;
/** The most memory for one trace, and below it the most spans. Further spans are counted and not kept. */
const MAX_TRACE_BYTES = 2_000_000;
const MAX_TRACE_SPANS = 1_000;
/** A larger span is replaced by a copy with shortened texts. */
const MAX_SPAN_BYTES = 64_000;
/** Of such a span. */
const MAX_EVENTS = 20;
/** The most traces whose root hasn't ended. A request that never ends, or a parent of another SDK, keeps its trace here. */
const MAX_OPEN = 500;
/** The memory of an SDK span without attributes and events. Measured: 914 bytes with SDK 2.12 on Node 20. */
const SPAN_BYTES = 900;

/**
 * Keeps an ended span with its trace. A trace is finished when its local root has ended. The oldest traces make room.
 *
 * It keeps the span itself, and reads it on request, because most are never looked at. Measured: 1 to 2 µs a span, besides 4
 * µs for the span, mostly in the garbage collector.
 */
export function keepSpan(kept: RecentTraces, span: KeptSpan): void {
  const { traceId } = span.spanContext();
  const trace = kept.finished.get(traceId) ?? kept.open.get(traceId) ?? openTrace(kept, traceId);
  const isFinishing = isLocalRoot(span) && kept.open.has(traceId);
  trace.count++;
  trace.hasError ||= span.status.code === SpanStatusCode.ERROR;
  const bytes = bytesOf(span);
  const hasRoom = trace.spans.length < MAX_TRACE_SPANS && trace.bytes < MAX_TRACE_BYTES;
  if (hasRoom || isFinishing) add(kept, trace, span, bytes);
  if (isFinishing) finish(kept, traceId, trace, span);
  while (kept.bytes > MAX_BYTES) dropOldest(kept);
}

function openTrace(kept: RecentTraces, traceId: string): RecentTrace {
  const trace: RecentTrace = { spans: [], count: 0, hasError: false, bytes: 0 };
  if (kept.open.size >= MAX_OPEN) drop(kept, kept.open);
  kept.open.set(traceId, trace);
  return trace;
}

function add(kept: RecentTraces, trace: RecentTrace, span: KeptSpan, bytes: number): void {
  const isBig = bytes > MAX_SPAN_BYTES;
  const added = isBig ? boundedCopy(span) : span;
  const taken = isBig ? bytesOf(added) : bytes;
  trace.spans.push(added);
  trace.bytes += taken;
  kept.bytes += taken;
}

function finish(kept: RecentTraces, traceId: string, trace: RecentTrace, root: KeptSpan): void {
  kept.open.delete(traceId);
  const route = root.attributes['http.route'];
  if (typeof route === 'string' && kept.ownRoutes.has(route)) {
    kept.bytes -= trace.bytes;
    return;
  }
  kept.finished.set(traceId, trace);
  if (kept.finished.size > kept.limit) drop(kept, kept.finished);
}

function dropOldest(kept: RecentTraces): void {
  if (kept.finished.size > 0) drop(kept, kept.finished);
  else if (kept.open.size > 0) drop(kept, kept.open);
  else kept.bytes = 0;
}

function drop(kept: RecentTraces, traces: Map<string, RecentTrace>): void {
  for (const [traceId, { bytes }] of traces) {
    traces.delete(traceId);
    kept.bytes -= bytes;
    return;
  }
}

function bytesOf(span: KeptSpan): number {
  // JavaScript code can give a span a name of any type.
  const nameBytes = typeof span.name === 'string' ? span.name.length : 0;
  let bytes = SPAN_BYTES + nameBytes + bytesOfAttributes(span.attributes);
  for (const { attributes } of span.events) bytes += 100 + bytesOfAttributes(attributes);
  return bytes;
}

function boundedCopy(span: KeptSpan): KeptSpan {
  const context = span.spanContext();
  const { parentSpanContext, kind, startTime, duration, instrumentationScope } = span;
  return {
    ...withPerformanceStart(span),
    ...{ parentSpanContext, kind, startTime, duration, instrumentationScope },
    name: boundedText(span.name),
    spanContext: () => context,
    status: { ...span.status, ...(span.status.message ? { message: boundedText(span.status.message) } : {}) },
    attributes: boundedAttributes(span.attributes),
    // The last events, because an exception comes at the end.
    events: span.events.slice(-MAX_EVENTS).map(({ name, time, attributes = {} }) => ({
      ...{ name: boundedText(name), time },
      attributes: boundedAttributes(attributes),
    })),
  };
}
