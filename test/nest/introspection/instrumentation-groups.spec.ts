// What an operator sees and changes of the groups of instrumentations.
import { describe, expect, it, vi } from 'vitest';
import { type CanActivate, Controller, Get, Injectable } from '@nestjs/common';
import { SpanKind, trace } from '@opentelemetry/api';
import { SpanRegistry } from 'nest-lens';
import { onEachPlatform } from '../../support/adapters.js';
import { processState } from '../../../src/core/state/process-state.js';
import { type LensApp, lensApp, namesOf, until } from '../../support/lens-app.js';
import { startReceiver } from '../../support/otlp-receiver.js';
import { startShop } from '../../support/shop-process.js';

vi.setConfig({ testTimeout: 60_000 });

const PG = '@opentelemetry/instrumentation-pg';
const HTTP = '@opentelemetry/instrumentation-http';

@Injectable()
class Everybody implements CanActivate {
  canActivate(): boolean {
    return true;
  }
}

@Controller('orders')
class OrdersController {
  /** Asks for spans as the instrumentations of a server and of a database do. */
  @Get()
  list(): string {
    const server = trace.getTracer(HTTP, '0.223.0').startSpan('GET', { kind: SpanKind.SERVER });
    trace.getTracer(PG, '0.76.0').startSpan('pg.query', { kind: SpanKind.CLIENT }).end();
    server.end();
    return 'list';
  }
}

onEachPlatform('GET /lens/groups, with instrumentationGroups', (platform) => {
  const shop = (): Promise<LensApp> =>
    lensApp(platform)
      .controllers(OrdersController)
      .forRoot({
        instrumentationGroups: true,
        config: { spanGroups: 'default' },
        introspection: { guards: [Everybody], runtimeControl: true },
      })
      .spec('default')
      .start();

  it('N7: lists the groups with kind, scope and version, and why they are on', async () => {
    const lens = await shop();
    await lens.get('/orders');
    const { groups, namespaces } = (await lens.get('/lens/groups')).json();
    const found = (name: string): unknown => groups.find((group: { name: string }) => group.name === name);
    expect(found('http_server')).toEqual({
      name: 'http_server',
      enabled: true,
      namespaces: ['instrumentation'],
      presets: ['default', 'http', 'per_request'],
      because: ['default'],
      sites: 0,
      kind: 'instrumentation',
      scope: HTTP,
      version: '0.223.0',
    });
    expect(found('pg')).toMatchObject({ enabled: false, because: [], scope: PG, version: '0.76.0' });
    expect(namespaces).toContain('instrumentation');
    expect(lens.warnings.map(({ code }) => code)).not.toContain('LATE_REGISTRATION');
  });

  it('T7: one PUT turns pg on in a running process, and DELETE turns it off again', async () => {
    const lens = await shop();
    await lens.get('/orders');
    expect(namesOf(await lens.spans())).toEqual(['GET']);
    const body = { spec: 'default,pg', ttlSeconds: 900 };
    expect((await lens.request('PUT', '/lens/groups', { body })).status).toBe(200);
    await lens.get('/orders');
    expect(namesOf(await lens.spans())).toEqual(['GET', 'GET', 'pg.query']);
    await lens.request('DELETE', '/lens/groups');
    await lens.get('/orders');
    expect(namesOf(await lens.spans())).toEqual(['GET', 'GET', 'GET', 'pg.query']);
  });

  it('a preview counts the spans of instrumentations, on or off, by scope', async () => {
    const lens = await shop();
    // Its group is registered when it has asked for a span.
    await lens.get('/orders');
    const reply = lens.post('/lens/groups/preview', { seconds: 300, groups: ['http_server', 'pg'] });
    await until(() => processState.preview !== undefined);
    await lens.get('/orders');
    await lens.get('/orders');
    processState.preview!.end();
    const { groups } = (await reply).json();

    expect(groups).toMatchObject([
      { name: 'http_server', spans: 2, sites: [{ name: HTTP, spans: 2 }] },
      { name: 'pg', spans: 2, sites: [{ name: PG, spans: 2 }] },
    ]);
    expect(namesOf(await lens.spans())).toEqual(['GET', 'GET', 'GET']);
  });

  it('N2: two applications share the gating, until the last one closes', async () => {
    const first = await shop();
    const second = await shop();
    await first.close();
    await second.get('/orders');
    expect(trace.getTracer(PG).startSpan('off').isRecording()).toBe(false);
    const ignored = second.warnings.filter(({ code }) => code === 'OPTIONS_IGNORED');
    expect(ignored.map(({ details }) => details['options'])).toEqual([
      ['telemetry.spanExporter', 'telemetry.spanProcessors'],
    ]);
    await second.close();
    expect(SpanRegistry.namespaces()).not.toContain('instrumentation');
  });
});

describe('NEST_LENS_INSTRUMENTATION_GROUPS, with nest-lens/register', () => {
  it.each([
    ['shop.mjs', [['OrdersController.list'], ['GET /orders']]],
    // It can't be told another spec.
    ['shop.cjs', [['OrdersController.list']]],
  ])(
    'H6: the server span of %s obeys the spec, though its instrumentation was there first',
    async (script, spans) => {
      const receiver = await startReceiver();
      const shop = startShop({
        nodeArguments: ['--import', 'nest-lens/register'],
        script,
        env: {
          NEST_LENS_INSTRUMENTATION_GROUPS: 'true',
          NEST_LENS_SPAN_GROUPS: 'orders',
          OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
        },
      });
      const traceIds = spans.map((_names, at) => String(at + 1).padStart(32, '0'));
      for (const traceId of traceIds) {
        if (traceId !== traceIds[0]) await shop.get('/spec/http,-http_client');
        const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01` };
        expect(await (await fetch(`${await shop.url()}/orders`, { headers })).text()).toBe('["anvil"]');
      }
      await shop.kill('SIGTERM');
      expect(shop.warnings()).toEqual([]);
      const made = traceIds.map((traceId) =>
        receiver.spans.filter((span) => span.traceId === traceId).map(({ name }) => name),
      );
      expect(made).toEqual(spans);
    },
  );
});
