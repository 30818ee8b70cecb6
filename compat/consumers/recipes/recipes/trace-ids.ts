// #region trace-ids
import { isSpanContextValid, trace } from '@opentelemetry/api';

/** The ids of the active span, by the names that OpenTelemetry has for them in logs; nothing where there is no span. */
export function traceIds() {
  const span = trace.getActiveSpan()?.spanContext();
  return span !== undefined && isSpanContextValid(span)
    ? { trace_id: span.traceId, span_id: span.spanId }
    : {};
}
// #endregion
