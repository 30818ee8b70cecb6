import type { tracing } from '@opentelemetry/sdk-node';

/** The spans whose parent was never exported: there should be none, whatever groups are off. */
export function orphanSpans(spans: readonly tracing.ReadableSpan[]): tracing.ReadableSpan[] {
  const exported = new Set(spans.map((span) => span.spanContext().spanId));
  return spans.filter(
    ({ parentSpanContext: parent }) => parent !== undefined && !exported.has(parent.spanId),
  );
}
