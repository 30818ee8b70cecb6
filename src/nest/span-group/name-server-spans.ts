import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { RequestMethod } from '@nestjs/common';
import type { AbstractHttpAdapter } from '@nestjs/core';
import type { AnyFunction } from '../../core/spans/gated-function.js';
import { mirrorFunction } from '../../core/spans/mirror-function.js';
import { type FastifyInstanceLike, nameFastifyRoutes } from './fastify-routes.js';
import { setServerSpanRoute, setServerSpanRouteAtEnd } from './server-span-route.js';

/** The methods of an HTTP adapter that register handlers, by Nest's names. */
type Registrations = Record<string, ((...args: unknown[]) => unknown) | undefined>;

const METHODS = Object.values(RequestMethod)
  .filter((method) => typeof method === 'string')
  .map((method) => method.toLowerCase());

const named = new WeakSet<object>();

/**
 * Gives the server span of each request to a route of the application the full template of the route, before guards run.
 * Routes that were registered earlier are left out, so it is called as soon as there is an adapter, and again before Nest
 * registers its routes. Nest has `setOnRouteTriggered` for this, but 11.0 lacks it, and in 11.2 it removes the versions from
 * Fastify's routes.
 */
export function nameServerSpans(adapter: AbstractHttpAdapter): void {
  if (!named.has(adapter)) {
    named.add(adapter);
    // On Fastify too, because an instrumentation may begin its span in a hook, which runs after `nameFastifyRoutes`.
    nameRegistrations(adapter);
    if (adapter.getType() === 'fastify') nameFastifyRoutes(adapter.getInstance<FastifyInstanceLike>());
  }
  const server = adapter.getHttpServer() as Server | undefined;
  if (adapter.getType() === 'express' && server !== undefined && !named.has(server)) {
    named.add(server);
    nameExpressRoutes(server);
  }
}

/** Measured: 20 ns a request. */
function nameRegistrations(adapter: AbstractHttpAdapter): void {
  const registrations = adapter as unknown as Registrations;
  // Express reads no more than the name and the number of parameters. Measured: the rest takes 10 us a route, a twentieth of a
  // boot. To inherit it by the prototype takes 2 us, but a request to one of 2,000 routes 1 us more.
  const mirror = adapter.getType() === 'express' ? undefined : mirrorFunction;
  for (const method of METHODS) {
    const register = registrations[method];
    if (register === undefined) continue;
    registrations[method] = function (path, ...handlers) {
      if (typeof path !== 'string') return register.call(this, path, ...handlers);
      const naming = handlers.map((handler) => {
        // Express gives errors to a handler of four parameters, after another handler of the route.
        if (typeof handler !== 'function' || handler.length > 3) return handler;
        const wrapper = namingRoute(path, handler as AnyFunction);
        return mirror?.(handler as AnyFunction, wrapper) ?? wrapper;
      });
      return register.call(this, path, ...naming);
    };
  }
}

/** A handler, with the same name, that names the route first. */
function namingRoute(route: string, handler: AnyFunction): AnyFunction {
  const { name } = handler;
  return {
    [name](this: unknown, request: unknown, response: unknown, next: unknown) {
      if (!setServerSpanRoute(request as object, route) || typeof next !== 'function') {
        return handler.call(this, request, response, next);
      }
      // With another version or host, the request goes on to another route, or to none.
      const goOn = (error?: unknown): unknown => {
        if (error === undefined || error === 'route' || error === 'router') {
          setServerSpanRoute(request as object, undefined);
        }
        return (next as AnyFunction)(error);
      };
      return handler.call(this, request, response, goOn);
    },
  }[name]!;
}

/** The fields that Express sets on a request when it has found the route. */
type RoutedRequest = IncomingMessage & {
  readonly baseUrl?: unknown;
  readonly route?: { readonly path?: unknown };
};

/**
 * The same for routes that the application registers with Express itself. Below a `Router`, Express gives the path of the
 * request instead of its template, so such a route stays unknown; the instrumentation of Express knows it.
 */
function nameExpressRoutes(server: Server): void {
  server.prependListener('request', (request: RoutedRequest, response: ServerResponse) => {
    setServerSpanRouteAtEnd(response, () => {
      const path = request.route?.path;
      return request.baseUrl === '' && typeof path === 'string' ? path : undefined;
    });
  });
}
