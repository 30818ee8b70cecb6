import { createContextKey } from '@opentelemetry/api';

/*
 * Keys under which OpenTelemetry's own packages keep values in a context. They belong to `@opentelemetry/core`, which
 * NestLens doesn't load. Keys with the same description are the same key, so NestLens makes them by their descriptions. Seen
 * in 2.0.0 to 2.12.0 and in 3.0.0 and 3.1.0. If a later core renames them, NestLens finds no values.
 */

/** `suppressTracing` sets this key, and the tracers of every SDK read it. */
export const SUPPRESS_TRACING = createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING');

/**
 * `getRPCMetadata` reads this key. `@opentelemetry/instrumentation-http` keeps an object there. When the response ends, it
 * uses the object's `route` as the server span's `http.route`, in the span's name, and as an attribute of
 * `http.server.request.duration`.
 */
export const RPC_METADATA = createContextKey('OpenTelemetry SDK Context Key RPC_METADATA');
