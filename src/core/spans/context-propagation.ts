import { context, type Context, propagation } from '@opentelemetry/api';

/**
 * Writes the active trace context into a carrier, such as the headers of a message, with the registered propagator.
 *
 * @example
 * const headers: Record<string, string> = {};
 * injectContext(headers); // { traceparent: '00-…' }
 */
export function injectContext(carrier: Record<string, string>): void {
  propagation.inject(context.active(), carrier);
}

/**
 * The active context with the trace context that a carrier brings, read with the registered propagator.
 *
 * @example
 * context.with(extractContext(message.headers), () => handle(message));
 */
export function extractContext(carrier: Record<string, unknown>): Context {
  return propagation.extract(context.active(), carrier);
}
