import { RequestMethod } from '@nestjs/common';
import type { AbstractHttpAdapter } from '@nestjs/core';
import { context, createContextKey } from '@opentelemetry/api';
import type { AnyFunction } from '../../core/spans/gated-function.js';
import { mirrorFunction } from '../../core/spans/mirror-function.js';

/**
 * Where `@opentelemetry/instrumentation-http` leaves what others tell it about a request (`getRPCMetadata` of
 * `@opentelemetry/core`, whose key is found by this description): what stands in `route` when the response ends becomes the
 * server span's `http.route`, a part of its name, and an attribute of `http.server.request.duration`.
 */
const RPC_METADATA = createContextKey('OpenTelemetry SDK Context Key RPC_METADATA');
/** The request that has set the route. */
const REQUEST = Symbol('nest-lens request');

interface RpcMetadata {
  readonly type?: unknown;
  [REQUEST]?: object;
  route?: string | undefined;
}

/** The members of an HTTP adapter that register handlers, by Nest's names. */
type Registrations = Record<string, ((...args: unknown[]) => unknown) | undefined>;

const METHODS = Object.values(RequestMethod)
  .filter((method) => typeof method === 'string')
  .map((method) => method.toLowerCase());

const named = new WeakSet<object>();

/**
 * Gives the server span of each request that comes to a route of an application the full template of the route, before guards
 * run. It has to be called before Nest registers routes; what it registers then is wrapped.
 *
 * Measured: 20 ns a request. Nest has `setOnRouteTriggered` for this, but not in 11.0, and in 11.2 it takes the versions off
 * Fastify's routes. `@fastify/otel` would make spans of a hook.
 */
export function nameServerSpans(adapter: AbstractHttpAdapter): void {
  if (named.has(adapter)) return;
  named.add(adapter);
  const registrations = adapter as unknown as Registrations;
  for (const method of METHODS) {
    const register = registrations[method];
    if (register === undefined) continue;
    registrations[method] = function (path, ...handlers) {
      const isRoute = typeof path === 'string';
      return register.call(
        this,
        path,
        ...handlers.map((handler) =>
          isRoute && typeof handler === 'function' ? withRoute(path, handler as AnyFunction) : handler,
        ),
      );
    };
  }
  if (adapter.getType() === 'fastify') nameRefusedRequests(registrations);
}

/** Fastify chooses the route before it reads the body; what is wrong with the body comes to the error handler alone. */
function nameRefusedRequests(registrations: Registrations): void {
  const setErrorHandler = registrations['setErrorHandler'];
  registrations['setErrorHandler'] = function (handler, ...rest) {
    const wrapped = function (this: unknown, ...args: unknown[]) {
      const request = args[1] as { routeOptions?: { url?: string } };
      setServerSpanRoute(request, request.routeOptions?.url);
      return (handler as AnyFunction).apply(this, args);
    };
    return setErrorHandler?.call(this, wrapped, ...rest);
  };
}

function withRoute(route: string, handler: AnyFunction): AnyFunction {
  const wrapper = function (this: unknown, request: unknown, response: unknown, next?: unknown) {
    if (!setServerSpanRoute(request as object, route) || typeof next !== 'function') {
      return handler.call(this, request, response, next);
    }
    // Another version or host: the request goes on to another route, or to none.
    const goOn = (error?: unknown): unknown => {
      if (error === undefined || error === 'route' || error === 'router') {
        setServerSpanRoute(request as object, undefined);
      }
      return (next as AnyFunction)(error);
    };
    return handler.call(this, request, response, goOn);
  };
  return mirrorFunction(handler, wrapper);
}

/** Whether there is a server span to tell. A request that a handler makes within the process leaves the outer one alone. */
function setServerSpanRoute(request: object, route: string | undefined): boolean {
  const metadata = context.active().getValue(RPC_METADATA) as RpcMetadata | undefined;
  if (metadata?.type !== 'http' || (metadata[REQUEST] ?? request) !== request) return false;
  metadata[REQUEST] = request;
  metadata.route = route;
  return true;
}
