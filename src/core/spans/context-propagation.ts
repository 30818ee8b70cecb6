import { context, type Context, propagation } from '@opentelemetry/api';
import { CARRIER_GETTER, CARRIER_SETTER } from './carrier.js';

/**
 * Writes the active trace context into a carrier with the registered propagator: into a plain object, or into headers that
 * have a `set`, such as a `Map`, `Headers`, NATS's `MsgHdrs` or gRPC's `Metadata`. Without a propagator, and in a carrier that
 * takes nothing (a frozen one), it does nothing. Never throws.
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
    // A frozen carrier, or headers that refuse: the message goes without.
  }
}

/**
 * The active context with the trace context that a carrier brings, read with the registered propagator. It takes what
 * `injectContext` takes. Names are found in any case; values may be strings, bytes (a `Buffer`, as Kafka's and RabbitMQ's are)
 * or arrays of them. Never throws: where there is nothing to read, it is the active context.
 *
 * @param carrier the headers of the message that has come; undefined for a message without any
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
