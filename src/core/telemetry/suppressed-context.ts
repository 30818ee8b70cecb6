import { context, createContextKey } from '@opentelemetry/api';

/** The key that `suppressTracing` of `@opentelemetry/core` sets, and that the tracers of every SDK ask for. Keys go by name. */
const SUPPRESS_TRACING_KEY = createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING');

/** Runs something that makes no span: an exporter or processor that traced itself would have its own spans to handle, without end. */
export function withoutTracing<T>(run: () => T): T {
  return context.with(context.active().setValue(SUPPRESS_TRACING_KEY, true), run);
}
