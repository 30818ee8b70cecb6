import { expect, it } from 'vitest';
import { Controller, Get, Injectable } from '@nestjs/common';
import { overrideSpanGroups, SpanGroup } from 'nest-lens';
import { onEachPlatform } from '../../support/adapters.js';
import { lensApp, type LensApp } from '../../support/lens-app.js';

@SpanGroup('orders')
@Controller('orders')
class OrdersController {
  @Get()
  list(): string {
    return 'list';
  }
}

@Injectable()
class Payments {
  @SpanGroup('payment')
  charge(): string {
    return 'charged';
  }
}

const shop = {
  namespace: 'shop',
  groups: ['orders', 'payment', 'order_items', 'preview', 'a/b', '__proto__'],
  presets: { per_request: ['orders', 'payment'], busy: ['orders'], quiet: ['gone'] },
};

onEachPlatform('GET /lens/groups/:name', (platform) => {
  const start = (registration: object = shop): Promise<LensApp> =>
    lensApp(platform)
      .forRoot({ registrations: [registration as typeof shop] })
      .spec('busy')
      .controllers(OrdersController)
      .providers(Payments)
      .start();
  const one = async (lens: LensApp, name: string): Promise<any> =>
    (await lens.get(`/lens/groups/${name}`)).json();

  it('N7: it is the group as the document has it, with its sites and what would turn it on', async () => {
    const lens = await start();
    const reply = await lens.get('/lens/groups/orders');

    expect(reply.status).toBe(200);
    expect(reply.headers['cache-control']).toBe('no-store');
    expect(reply.json()).toEqual({
      name: 'orders',
      enabled: true,
      namespaces: ['shop'],
      presets: ['busy', 'per_request'],
      because: ['busy'],
      sites: 1,
      siteList: [{ name: 'OrdersController.list', kind: 'handler', type: 'http', route: 'GET /orders' }],
      turnedOnBy: ['orders', 'busy', 'per_request', 'all'],
    });
    expect(await one(lens, 'payment')).toMatchObject({
      enabled: false,
      because: [],
      siteList: [{ name: 'Payments.charge', kind: 'method' }],
      turnedOnBy: ['payment', 'per_request', 'all'],
    });
  });

  it('N7: each of turnedOnBy, taken as the spec, turns it on', async () => {
    const lens = await start();
    for (const entry of (await one(lens, 'payment')).turnedOnBy as string[]) {
      overrideSpanGroups(entry);
      expect(await one(lens, 'payment')).toMatchObject({ enabled: true, because: [entry] });
    }
  });

  it('R21: a name that means the preset turns on what the preset names', async () => {
    const lens = await start({
      namespace: 'shop',
      groups: ['orders', 'payment'],
      presets: { orders: ['payment'] },
    });
    expect((await one(lens, 'orders')).turnedOnBy).toEqual(['all']);
    expect((await one(lens, 'payment')).turnedOnBy).toEqual(['payment', 'orders', 'all']);
  });

  it.each(['ORDERS', '%20orders%20', 'preview', 'a%2Fb', '__proto__'])(
    'R3, R22: %s is found',
    async (name) => {
      expect((await (await start()).get(`/lens/groups/${name}`)).status).toBe(200);
    },
  );

  it.each([
    ['oders', ['orders']],
    ['order', ['orders', 'order_items']],
    ['paymnet', ['payment']],
    ['items', ['order_items']],
    ['constructor', []],
    ['x', []],
  ])('N7: %s is a 404 in JSON with the nearest names %j', async (name, nearest) => {
    const reply = await (await start()).get(`/lens/groups/${name}`);

    expect(reply.status).toBe(404);
    expect(reply.headers['content-type']).toMatch(/^application\/json/);
    expect(reply.json()).toEqual({ message: expect.stringContaining(`'${name}'`), nearest });
  });

  it('N7: of a preset it says what it names', async () => {
    const reply = await (await start()).get('/lens/groups/per_request');

    expect(reply.status).toBe(404);
    expect(reply.json().message).toContain('It is a preset, which names [orders, payment].');
  });

  it('N7: a hostile name comes back escaped', async () => {
    const name = encodeURIComponent(`<img onerror>\u202e\n${'x'.repeat(60)}`);
    const reply = await (await start()).get(`/lens/groups/${name}`);

    expect(reply.headers['content-type']).toMatch(/^application\/json/);
    expect(reply.json().message).toContain('\\u202e\\n');
    expect(reply.text).not.toMatch(/[\u202e\n]/);
  });

  it('N7: before any registration it is a 404 as well', async () => {
    const lens = await lensApp(platform).forRoot().start();
    expect((await lens.get('/lens/groups/orders')).json()).toMatchObject({ nearest: [] });
  });
});
