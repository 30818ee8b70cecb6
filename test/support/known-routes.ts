import { expect } from 'vitest';
import type { INestApplication, Type } from '@nestjs/common';
import { httpRoutesOf } from '../../src/nest/span-group/http-routes.js';
import { express } from './adapters.js';
import { lensApp } from './lens-app.js';

/** A handler, and its routes in an application. */
export interface RouteCase {
  readonly title: string;
  readonly Class: Type<unknown>;
  readonly method: string;
  readonly imports?: any[];
  readonly configure?: (app: INestApplication) => void;
  readonly routes: readonly string[];
}

/** The routes that are known of a handler have to be those at which it answers. */
export async function expectRoutes({
  Class,
  method,
  imports = [],
  configure = () => undefined,
  routes,
}: RouteCase): Promise<void> {
  const builder = lensApp(express).groups('orders').configure(configure);
  if (imports.length > 0) builder.imports(...imports);
  else builder.controllers(Class);
  const lens = await builder.start();
  const handler = (Class.prototype as Record<string, () => string>)[method]!;
  const headers = { 'x-version': '1' };

  expect(httpRoutesOf(Class, handler).map(({ verb, template }) => `${verb} ${template}`)).toEqual(routes);
  for (const route of routes) {
    const [verb, path] = route.split(' ') as [string, string];
    const reply = await lens.request(verb.replace('ALL', 'PUT'), path, { headers });
    expect({ route, text: reply.text }).toEqual({ route, text: handler.call({}) });
  }
}
