import http from 'node:http';
import { describe, expect, it, vi } from 'vitest';
import {
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  Injectable,
  UseInterceptors,
} from '@nestjs/common';
import { managedSpan, overrideSpanGroups, SpanGroup, SpanGroupInterceptor } from 'nest-lens';
import { type Observable, of } from 'rxjs';
import { processState } from '../../../src/core/state/process-state.js';
import { onEachPlatform } from '../../support/adapters.js';
import { type EventStream, listenToEvents } from '../../support/event-stream.js';
import { lensApp, type LensApp, until } from '../../support/lens-app.js';

vi.setConfig({ testTimeout: 30_000 });

@Injectable()
class OperatorGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    return context.switchToHttp().getRequest<{ headers: object }>().headers['x-operator' as never] === 'yes';
  }
}

@Injectable()
class Payments {
  @SpanGroup('payment')
  charge(): string {
    return managedSpan('db_query', 'db.insert', () => 'charged');
  }
}

@Controller('orders')
class OrdersController {
  constructor(private readonly payments: Payments) {}

  @Get()
  @SpanGroup('orders')
  list(): string {
    this.payments.charge();
    return managedSpan('db_query', 'db.select', () => managedSpan('db_query', 'db.select', () => 'list'));
  }
}
Reflect.defineMetadata('design:paramtypes', [Payments], OrdersController);

@Controller('widened')
@UseInterceptors(SpanGroupInterceptor)
class WidenedController {
  @Get()
  @SpanGroup('cache')
  read(): Observable<string> {
    return of('read');
  }
}

const shop = {
  namespace: 'shop',
  groups: ['orders', 'payment', 'db_query', 'cache'],
  presets: { default: ['orders'], writes: ['payment'] },
};

onEachPlatform('POST /lens/groups/preview', (platform) => {
  const start = (): Promise<LensApp> =>
    lensApp(platform)
      .forRoot({ registrations: [shop], introspection: { runtimeControl: { guards: [OperatorGuard] } } })
      .spec('default')
      .controllers(OrdersController, WidenedController)
      .providers(Payments)
      .start();
  const PATH = '/lens/groups/preview';
  const headers = { 'x-operator': 'yes' };
  const preview = (lens: LensApp, body: object) => lens.post(PATH, body, { headers });
  const begun = (): Promise<boolean> => until(() => processState.preview !== undefined);
  const isOver = (): Promise<boolean> =>
    until(() => processState.preview === undefined && processState.isAdmitted === undefined);
  const listen = (lens: LensApp, body: object): Promise<EventStream> =>
    listenToEvents(lens.url(PATH), body, headers);

  describe('the answer', () => {
    it('says what each group would make, on or off, by site, the busiest first, and what it would weigh', async () => {
      const lens = await start();
      const reply = preview(lens, { seconds: 300, groups: ['payment', 'db_query', 'orders', 'cache'] });
      await begun();
      for (let call = 0; call < 10; call += 1) await lens.get('/orders');
      processState.preview!.end();
      const { status, headers: answered, ...answer } = await reply;
      const report = answer.json();
      const { seconds } = report;
      const perSecond = (spans: number): unknown => expect.closeTo(spans / seconds, 1);

      expect([status, answered['cache-control']]).toEqual([200, 'no-cache, no-store, no-transform']);
      expect(report).toEqual({
        seconds: expect.any(Number),
        spans: 50,
        perSecond: perSecond(50),
        bytesPerSecond: expect.any(Number),
        groups: [
          {
            name: 'db_query',
            spans: 30,
            perSecond: perSecond(30),
            sites: [
              { name: 'db.select', spans: 20 },
              { name: 'db.insert', spans: 10 },
            ],
          },
          {
            name: 'orders',
            spans: 10,
            perSecond: perSecond(10),
            sites: [{ name: 'OrdersController.list', spans: 10 }],
          },
          {
            name: 'payment',
            spans: 10,
            perSecond: perSecond(10),
            sites: [{ name: 'Payments.charge', spans: 10 }],
          },
          { name: 'cache', spans: 0, perSecond: 0, sites: [] },
        ],
      });
      // Protobuf: about 110 bytes for a block, 160 for a method, 290 for a handler.
      expect(report.bytesPerSecond * seconds).toBeGreaterThan(0.9 * (30 * 105 + 10 * 155 + 10 * 260));
      expect(report.bytesPerSecond * seconds).toBeLessThan(1.1 * (30 * 120 + 10 * 180 + 10 * 320));
      expect((await lens.spans()).map(({ name }) => name)).toEqual(
        Array.from({ length: 10 }, () => 'OrdersController.list'),
      );
      expect([...processState.open]).toEqual(['orders']);
    });

    it('takes a spec, names of presets and patterns too, and names what is pending', async () => {
      const lens = await start();
      const names = async (body: object): Promise<unknown> => {
        const { groups, pending } = (await preview(lens, { seconds: 0.01, ...body })).json();
        return [groups.map(({ name }: { name: string }) => name), pending];
      };

      expect(await names({ spec: 'db_*,orders' })).toEqual([['db_query', 'orders'], undefined]);
      expect(await names({ spec: 'all,-cache,oders' })).toEqual([
        ['db_query', 'orders', 'payment'],
        ['oders'],
      ]);
      expect(await names({ groups: ['writes', ' DB_Query '] })).toEqual([['db_query', 'payment'], undefined]);
      expect(await names({ groups: ['oders', 'orders'] })).toEqual([['orders'], ['oders']]);
    });

    it('comes at once when there is nothing to count', async () => {
      const reply = await preview(await start(), { seconds: 300, groups: ['oders'] });
      expect(reply.json()).toEqual({
        seconds: 0,
        spans: 0,
        perSecond: 0,
        bytesPerSecond: 0,
        groups: [],
        pending: ['oders'],
      });
    });

    it('streams progress each second, and what was counted at the end, where events are accepted', async () => {
      const lens = await start();
      const stream = await listen(lens, { seconds: 300, groups: ['db_query'] });
      await lens.get('/orders');
      await until(() => stream.events().length === 1, 10_000);
      processState.preview!.end();
      await stream.ended;
      const events = stream.events();

      expect(stream.headers['content-type']).toMatch(/^text\/event-stream/);
      expect(stream.headers['cache-control']).toContain('no-cache');
      expect(events.map(({ event }) => event)).toEqual(['progress', 'done']);
      expect(events[0]!.data.seconds).toBeGreaterThan(0.9);
      expect(events[1]!.data).toMatchObject({ spans: 3, groups: [{ name: 'db_query' }] });
      expect(Object.keys(events[0]!.data)).toEqual(Object.keys(events[1]!.data));
    });

    it.each(['default', 'cache'])(
      'counts a handler once that an interceptor widens, with %s',
      async (spec) => {
        const lens = await start();
        overrideSpanGroups(spec);
        const reply = preview(lens, { seconds: 300, groups: ['cache'] });
        await begun();
        for (let call = 0; call < 3; call += 1) await lens.get('/widened');
        processState.preview!.end();

        expect((await reply).json().groups[0].sites).toEqual([{ name: 'WidenedController.read', spans: 3 }]);
      },
    );

    it('measures the spans of a group that is on', async () => {
      const lens = await start();
      const reply = preview(lens, { seconds: 300, groups: ['db_query'] });
      await begun();
      overrideSpanGroups('db_query');
      managedSpan('db_query', 'db.select', { attributes: { statement: 'x'.repeat(10_000) } }, () => 1);
      // The time is shown in milliseconds, so it has to be one at least.
      await lens.get('/orders');
      processState.preview!.end();
      const { seconds, bytesPerSecond } = (await reply).json();

      expect(bytesPerSecond * seconds).toBeCloseTo(10_140, -3);
    });
  });

  describe('its end', () => {
    it('comes at its time', async () => {
      const from = performance.now();
      const { seconds } = (await preview(await start(), { seconds: 0.25, groups: ['orders'] })).json();
      // Node's timers may come a millisecond early.
      expect(seconds).toBeCloseTo(0.25, 2);
      expect(performance.now() - from).toBeGreaterThan(248);
    });

    it.each(['JSON', 'events'])('comes with its client, who has asked for %s', async (kind) => {
      const lens = await start();
      if (kind === 'JSON') {
        const request = http.request(lens.url(PATH), {
          method: 'POST',
          agent: false,
          headers: { ...headers, 'content-type': 'application/json' },
        });
        request.on('error', () => undefined);
        request.end(JSON.stringify({ seconds: 300, groups: ['orders'] }));
        expect(await begun()).toBe(true);
        request.destroy();
      } else {
        (await listen(lens, { seconds: 300, groups: ['orders'] })).leave();
      }
      expect(await isOver()).toBe(true);
      expect((await preview(lens, { seconds: 0.01, groups: ['orders'] })).status).toBe(200);
    });

    it('comes when the application closes, which waits neither for its time nor for its connection', async () => {
      const lens = await start();
      const reply = preview(lens, { seconds: 300, groups: ['db_query'] });
      await begun();
      managedSpan('db_query', 'db.select', () => 1);
      await lens.close();
      expect((await reply).json()).toMatchObject({ spans: 1 });

      const other = await start();
      const stream = await listen(other, { seconds: 300, groups: ['db_query'] });
      await other.close();
      await stream.ended;
      expect(stream.events().map(({ event }) => event)).toEqual(['done']);
      // The close of a server waits for a connection that is kept alive.
      expect(stream.headers.connection).toBe('close');
      expect(await isOver()).toBe(true);
    });
  });

  it('is one at a time: a second one is refused with 409, and the first goes on', async () => {
    const lens = await start();
    const stream = await listen(lens, { seconds: 300, groups: ['orders'] });
    const refused = await Promise.all(
      [['orders'], ['db_query']].map((groups) => preview(lens, { seconds: 1, groups })),
    );

    expect(refused.map(({ status }) => status)).toEqual([409, 409]);
    expect(refused[0]!.json().message).toContain('under way');
    expect(processState.preview?.counts.has('orders')).toBe(true);
    stream.leave();
    expect(await isOver()).toBe(true);
  });

  it('is for those who may change something, and needs telemetry', async () => {
    const lens = await start();
    const body = { seconds: 0.01, groups: ['orders'] };
    expect((await lens.post(PATH, body)).status).toBe(403);
    await lens.close();
    const disabled = await lensApp(platform)
      .forRoot({
        registrations: [shop],
        config: { enabled: false },
        introspection: { guards: [OperatorGuard], runtimeControl: true },
      })
      .start();
    expect((await preview(disabled, body)).status).toBe(409);
    const looking = await lensApp(platform)
      .forRoot({ registrations: [shop] })
      .start();
    expect((await preview(looking, body)).status).toBe(404);
  });
});
