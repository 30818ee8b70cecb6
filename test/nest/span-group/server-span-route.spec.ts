import { describe, expect, it } from 'vitest';
import { fastify, onEachPlatform } from '../../support/adapters.js';
import { guardEachTest } from '../../support/lens-app.js';
import { inMetadata, type Metadata, shopWithServerSpans } from '../../support/server-spans.js';

onEachPlatform('the route of a server span', (platform) => {
  it('I13: is that of the handler, and of a guard that refuses; there is none without a route', async () => {
    const { routeOf } = await shopWithServerSpans(platform);

    expect(await routeOf('/plain/7?query=secret')).toBe('/plain/:id');
    expect(await routeOf('/plain/closed')).toBe('/plain/closed');
    expect(await routeOf('/plain/7/again', { 'x-version': '2' })).toBe('/plain/:id/again');
    expect(await routeOf('/plain/7/again', { 'x-version': '3' })).toBeUndefined();
    expect(await routeOf('/nowhere')).toBeUndefined();
  });

  it('I13: is left to the spans of HTTP', async () => {
    const { lens, routeOf } = await shopWithServerSpans(platform, undefined, { type: 'rpc' });

    expect(await routeOf('/plain/7')).toBeUndefined();
    expect((await lens.get('/plain/7')).text).toBe('plain');
  });
});

describe('the route of a server span, on Fastify', () => {
  guardEachTest();

  it('I13: is there when a hook answers, and on routes of Fastify itself', async () => {
    const { lens, routeOf } = await shopWithServerSpans(fastify, (adapter) => {
      const instance = adapter.getInstance<any>();
      instance.addHook('onRequest', async (request: any, reply: any) => {
        if (request.headers['x-refused'] !== undefined) await reply.code(401).send('refused');
      });
      instance.get('/raw/:id', () => Promise.resolve('raw'));
    });

    expect(await routeOf('/plain/7', { 'x-refused': 'yes' })).toBe('/plain/:id');
    expect(await routeOf('/raw/7')).toBe('/raw/:id');
    expect(await routeOf('/nowhere', { 'x-refused': 'yes' })).toBeUndefined();
    expect((await lens.get('/raw/7')).text).toBe('raw');
  });

  it("I13: leaves each route the maker of its logger, the application's too", async () => {
    const made: string[] = [];
    const maker = (name: string) => (logger: any, bindings: any) => {
      made.push(name);
      return logger.child(bindings);
    };
    const { routeOf } = await shopWithServerSpans(fastify, (adapter) => {
      const instance = adapter.getInstance<any>();
      instance.setChildLoggerFactory(maker('all'));
      instance.get('/raw/:id', () => Promise.resolve('raw'));
      instance.get('/own/:id', { childLoggerFactory: maker('own') }, () => Promise.resolve('own'));
    });

    expect(await routeOf('/raw/7')).toBe('/raw/:id');
    expect(await routeOf('/own/7')).toBe('/own/:id');
    expect(made).toEqual(['all', 'own']);
  });

  it('I13: stays as it is when a handler asks another route within the process', async () => {
    const { lens, routeOf } = await shopWithServerSpans(fastify);

    expect(await routeOf('/plain/7/calls')).toBe('/plain/:id/calls');
    expect((await lens.get('/plain/7/calls')).text).toBe('plain');
  });

  it('I13: is there when an instrumentation makes the server span in a hook; handlers get what Fastify gives', async () => {
    const metadata: Metadata = { type: 'http' };
    const { lens } = await shopWithServerSpans(fastify, (adapter) => {
      adapter
        .getInstance<any>()
        .addHook('onRequest', (_request: unknown, _reply: unknown, done: () => void) =>
          inMetadata(metadata, done),
        );
      adapter.get('/raw/:id', (...given) => Promise.resolve(given.map((value) => typeof value).join()));
    });

    expect((await lens.get('/raw/7')).text).toBe('object,object,undefined');
    expect(metadata.route).toBe('/raw/:id');
  });
});
