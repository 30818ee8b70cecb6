import { context, type Context, propagation } from '@opentelemetry/api';
import { CARRIER_GETTER, CARRIER_SETTER } from './carrier.js';

/**
 * Writes the active trace context into a carrier with the registered propagator: into a plain object, or into headers that
 * have a `set`, such as a `Map`, `Headers`, NATS's `MsgHdrs` or gRPC's `Metadata`. It does nothing if there is no propagator,
 * or if the carrier is frozen. Never throws.
 *
 * @param carrier the headers of the message that is about to be sent
 *
 * @example
 * const headers: Record<string, string> = {};
 * injectContext(headers); // { traceparent: '00-…' }
 */
export function injectContext(carrier: object): void {
  try {
    propagation.inject(context.active(), carrier, CARRIER_SETTER);
  } catch {
    // If the carrier is frozen or refuses headers, the message goes without them.
  }
}

/**
 * The active context with the trace context that a carrier brings, read with the registered propagator. It takes what
 * `injectContext` takes. Names are found in any case; values may be strings, bytes (a `Buffer`, as Kafka's and RabbitMQ's
 * are) or arrays of them. Never throws; if the carrier has no trace context, it returns the active context.
 *
 * @param carrier the headers of the received message; undefined if it has none
 *
 * @example
 * context.with(extractContext(message.headers), () => handle(message));
 */
export function extractContext(carrier: object | null | undefined): Context {
  const active = context.active();
  if (carrier === null || carrier === undefined) return active;
  try {
    return propagation.extract(active, carrier, CARRIER_GETTER);
  } catch {
    return active;
  }
}
