import { type SpanContext, TraceFlags } from '@opentelemetry/api';

/** Whether a span is exported. One that isn't sampled never is. */
export function isSampled(span: { spanContext(): SpanContext }): boolean {
  return (span.spanContext().traceFlags & TraceFlags.SAMPLED) !== 0;
}
