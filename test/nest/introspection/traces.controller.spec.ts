import type { Server } from 'node:http';
import { expect, it } from 'vitest';
import { type CanActivate, Controller, ForbiddenException, Get, Injectable } from '@nestjs/common';
import { context, SpanKind, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base';
import { type IntrospectionOptions, managedSpan, SpanGroup } from 'nest-lens';
import { RPC_METADATA } from '../../../src/core/spans/context-keys-of-others.js';
import { onEachPlatform } from '../../support/adapters.js';
import { lensApp, type LensApp, type LensAppBuilder, until } from '../../support/lens-app.js';

@Controller('orders')
class OrdersController {
  @Get()
  @SpanGroup('orders', { name: 'orders.list' })
  list(): string {
    return managedSpan('stock', 'stock.count', { attributes: { 'shop.api_key': 'sk-1' } }, () => 'list');
  }

  @Get('broken')
  @SpanGroup('orders', { name: 'orders.broken' })
  broken(): string {
    throw new Error('out of order');
  }
}

@Injectable()
class NobodyGuard implements CanActivate {
  canActivate(): boolean {
    throw new ForbiddenException('not you');
  }
}

onEachPlatform('GET /lens/traces', (platform) => {
  const shop = (introspection: IntrospectionOptions): LensAppBuilder =>
    lensApp(platform).groups('orders', 'stock').controllers(OrdersController).forRoot({ introspection });
  const listOf = async (app: LensApp, path = '/lens'): Promise<any[]> =>
    (await app.get(`${path}/traces`)).json().traces;

  it('lists the traces of requests, the newest first, and shows the spans of each', async () => {
    const app = await shop({ recentTraces: 2 }).start();
    for (const path of ['/orders', '/orders', '/orders/broken']) await app.get(path);
    const reply = await app.get('/lens/traces');
    expect(reply.headers).toMatchObject({
      'content-type': expect.stringMatching(/^application\/json/),
      'cache-control': 'no-store',
    });
    expect(reply.json()).toEqual({
      traces: [
        expect.objectContaining({ name: 'orders.broken', error: true, spans: 1 }),
        expect.objectContaining({ name: 'orders.list', error: false, spans: 2 }),
      ],
    });
    expect(Object.keys(reply.json().traces[0])).toEqual([
      ...['traceId', 'name', 'startedAt', 'durationMs', 'error', 'spans'],
    ]);
    const [broken, list] = reply.json().traces;
    const one = (await app.get(`/lens/traces/${list.traceId}`)).json();
    expect(Object.keys(one)).toEqual(['traceId', 'spans']);
    expect(one.spans.map(({ name }: any) => name)).toEqual(['orders.list', 'stock.count']);
    expect(Object.keys(one.spans[0])).toEqual([
      ...['spanId', 'parentSpanId', 'name', 'group', 'kind', 'startedAt', 'durationMs', 'status'],
      ...['attributes', 'events'],
    ]);
    expect(one.spans[0]).toMatchObject({ group: 'orders', parentSpanId: null });
    expect(one.spans[1]).toMatchObject({
      group: 'stock',
      parentSpanId: one.spans[0].spanId,
      attributes: { 'shop.api_key': '[REDACTED]' },
    });
    expect((await app.get(`/lens/traces/${broken.traceId}`)).json().spans[0].events).toMatchObject([
      { name: 'exception', attributes: { 'exception.message': 'out of order' } },
    ]);
  });

  it('answers 404, as JSON, for a trace that is not kept, whatever is asked for', async () => {
    const app = await shop({ recentTraces: 2 }).start();
    for (const id of ['0'.repeat(32), '__proto__', 'constructor', '%00', 'a'.repeat(90)]) {
      const reply = await app.get(`/lens/traces/${id}`);
      expect(reply.status).toBe(404);
      expect(reply.json()).toMatchObject({ message: expect.stringContaining('not kept') });
    }
  });

  it('is guarded, follows path and prefix, and is there only where it is asked for', async () => {
    const guarded = await shop({ recentTraces: 5, guards: [NobodyGuard] }).start();
    for (const path of ['/lens/traces', '/lens/traces/abc'])
      expect((await guarded.get(path)).status).toBe(403);
    await guarded.close();
    const moved = await shop({ recentTraces: 5, path: 'inside/lens' })
      .configure((app) => void app.setGlobalPrefix('api'))
      .start();
    expect(await listOf(moved, '/api/inside/lens')).toEqual([]);
    expect((await moved.get('/lens/traces')).status).toBe(404);
    await moved.close();
    const without = await shop({}).start();
    expect((await without.get('/lens/traces')).status).toBe(404);
    expect((await without.get('/lens')).status).toBe(404);
  });

  it('leaves out the requests by which somebody looks', async () => {
    const served: string[] = [];
    const app = await shop({ recentTraces: 50, page: true })
      .configure((nest) => {
        // What the instrumentation of HTTP does.
        const server = nest.getHttpServer() as Server;
        const emit = server.emit.bind(server) as (event: string, ...args: any[]) => boolean;
        server.emit = (event: string, ...args: any[]): boolean => {
          if (event !== 'request') return emit(event, ...args);
          const [request, response] = args;
          const span = trace.getTracer('http').startSpan('GET', { kind: SpanKind.SERVER });
          const metadata: { type: string; route?: string } = { type: 'http' };
          response.on('close', () => {
            if (metadata.route !== undefined) span.setAttribute('http.route', metadata.route);
            span.end();
            served.push(request.url);
          });
          const inside = trace.setSpan(context.active(), span).setValue(RPC_METADATA, metadata);
          return context.with(inside, () => emit(event, ...args));
        };
      })
      .start();
    for (const path of ['', '/groups', '/traces', '/groups/orders', '/traces/abc'])
      await app.get(`/lens${path}`);
    await app.get('/orders');
    expect(await until(() => served.length === 6)).toBe(true);
    expect(await listOf(app)).toMatchObject([{ spans: 3 }]);
  });

  it('H6: sees the traces of a provider that the application has registered', async () => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    trace.setGlobalTracerProvider(new BasicTracerProvider());
    const app = await shop({ recentTraces: 5 })
      .forRoot({
        telemetry: { mode: 'attach', spanExporter: undefined, spanProcessors: undefined } as object,
      })
      .start();
    await app.get('/orders');
    expect(await listOf(app)).toMatchObject([{ name: 'orders.list', spans: 2 }]);
  });

  it('H2: is empty while telemetry is disabled', async () => {
    const app = await shop({ recentTraces: 5 })
      .forRoot({ config: { enabled: false } })
      .start();
    await app.get('/orders');
    expect(await listOf(app)).toEqual([]);
  });
});
