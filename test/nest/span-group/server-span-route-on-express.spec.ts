import { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import type { AbstractHttpAdapter } from '@nestjs/core';
import { nameServerSpans } from '../../../src/nest/span-group/name-server-spans.js';
import { express } from '../../support/adapters.js';
import { guardEachTest } from '../../support/lens-app.js';
import { type Raw, type Router, shopWithServerSpans } from '../../support/server-spans.js';

const require = createRequire(import.meta.url);

describe('the route of a server span, on Express', () => {
  guardEachTest();

  const raw: Raw = (_request, response) => response.end('raw');

  it('I13: is gone when the handler passes the request on', async () => {
    const { routeOf } = await shopWithServerSpans(express);

    expect(await routeOf('/plain/7/passes')).toBeUndefined();
  });

  it.each([undefined, 'route', 'router'])(
    'I13: is that of the route that the request goes on to, by next(%j)',
    async (way) => {
      const { lens, routeOf } = await shopWithServerSpans(express, (adapter) => {
        adapter.get('/first/:id', (_request, _response, next) => next(way));
        adapter.get('/first/:other', raw);
      });

      // `router` leaves all routes of the application.
      expect(await routeOf('/first/7')).toBe(way === 'router' ? undefined : '/first/:other');
      expect((await lens.get('/first/7')).status).toBe(way === 'router' ? 404 : 200);
    },
  );

  it('I13: stays when a handler gives an error to the next one', async () => {
    const { lens, routeOf } = await shopWithServerSpans(express, (adapter) => {
      adapter.get('/failing/:id', (_request, _response, next) => next(new Error('closed')));
    });

    expect(await routeOf('/failing/7')).toBe('/failing/:id');
    expect((await lens.get('/failing/7')).status).toBe(500);
  });

  it('I13: is known of routes of Express itself, but not below a Router, and not of a pattern', async () => {
    const { lens, routeOf } = await shopWithServerSpans(express, (adapter) => {
      const instance = adapter.getInstance<Router & { use: Raw }>();
      const router = require('express').Router() as Router;
      router.get('/:id', raw);
      instance.get('/raw/:id', raw);
      instance.use('/below/:tenant', router);
      adapter.get(/^\/pattern/, raw);
    });

    expect(await routeOf('/raw/7')).toBe('/raw/:id');
    expect(await routeOf('/below/acme/7')).toBeUndefined();
    expect(await routeOf('/pattern/7')).toBeUndefined();
    expect((await lens.get('/pattern/7')).text).toBe('raw');
  });

  it('I13: is the one that an instrumentation of the router has found, where Nest has none', async () => {
    const { routeOf } = await shopWithServerSpans(
      express,
      (adapter) => adapter.getInstance<Router>().get('/raw/:id', raw),
      { type: 'http', route: '/of/the/router' },
    );

    expect(await routeOf('/raw/7')).toBe('/of/the/router');
    expect(await routeOf('/plain/7')).toBe('/plain/:id');
  });
});

describe('an adapter', () => {
  it('I13: learns to name routes once, however often it is asked', () => {
    const server = new EventEmitter();
    const adapter = {
      get: (path: string) => path,
      getType: () => 'express',
      getHttpServer: () => server,
    };
    nameServerSpans(adapter as unknown as AbstractHttpAdapter);
    const { get } = adapter;
    const methods = Object.keys(adapter);
    nameServerSpans(adapter as unknown as AbstractHttpAdapter);

    expect(adapter.get).toBe(get);
    // Nest has another way for methods that an adapter lacks.
    expect(methods).toEqual(['get', 'getType', 'getHttpServer']);
    expect(adapter.get('/orders')).toBe('/orders');
    expect(server.listenerCount('request')).toBe(1);
  });
});
