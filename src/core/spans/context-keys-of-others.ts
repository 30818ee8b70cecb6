import { createContextKey } from '@opentelemetry/api';

/*
 * The keys under which OpenTelemetry's own packages keep something in a context. Those of `@opentelemetry/core`, which NestLens
 * doesn't load; keys of one description are one key, so they are found by it. Seen in 2.0.0 to 2.12.0 and in 3.0.0 and 3.1.0. A
 * core that called them otherwise would read as one that keeps nothing.
 */

/** What `suppressTracing` sets, and the tracers of every SDK ask for. */
export const SUPPRESS_TRACING = createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING');

/**
 * What `getRPCMetadata` reads: where `@opentelemetry/instrumentation-http` leaves what others tell it about a request. What stands
 * in `route` when the response ends becomes the server span's `http.route`, a part of its name, and an attribute of
 * `http.server.request.duration`.
 */
export const RPC_METADATA = createContextKey('OpenTelemetry SDK Context Key RPC_METADATA');
