import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Controller, Get, type INestApplication, Injectable, Logger, Module, Param } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import {
  defineSpanGroups,
  managedSpan,
  NestLensModule,
  type NestLensModuleOptions,
  SpanGroup,
  SpanRegistry,
} from 'nest-lens';
import { captureSpans, createLensTestbed, type LensTestbed } from 'nest-lens/testing';
import { type HttpPlatform, onEachPlatform } from '../support/adapters.js';
import { everythingSaid } from '../support/lens-app.js';

// The SDK is loaded in the first test that needs it.
vi.setConfig({ testTimeout: 30_000 });

const shop = defineSpanGroups({
  namespace: 'shop',
  groups: ['orders', 'payment'],
  presets: { default: ['orders'] },
});
const warehouse = defineSpanGroups({ namespace: 'warehouse', groups: ['stock'] });

@Injectable()
class StockService {
  async take(product: string): Promise<string> {
    return managedSpan('stock', 'stock.take', async () => {
      await Promise.resolve();
      return `${product} taken`;
    });
  }
}

@Controller('orders')
class OrdersController {
  constructor(private readonly stock: StockService) {}

  @Get(':product')
  @SpanGroup('orders')
  place(@Param('product') product: string): Promise<string> {
    return managedSpan('payment', 'payment.charge', () => this.stock.take(product));
  }
}

@Module({
  imports: [NestLensModule.forFeature(warehouse)],
  controllers: [OrdersController],
  providers: [StockService],
})
class OrdersModule {}

/** As an application has it: the root module sets NestLens up. */
function rootModule(options: NestLensModuleOptions = {}, isLensFirst = true): new () => object {
  const lens = NestLensModule.forRoot({ registrations: [shop], ...options });
  @Module({ imports: isLensFirst ? [lens, OrdersModule] : [OrdersModule, lens] })
  class AppModule {}
  return AppModule;
}

const TREE = `
OrdersController.place [orders]
  payment.charge [payment]
    stock.take [stock]`.trim();

onEachPlatform('An application in a testbed', (platform: HttpPlatform) => {
  const open: { close(): Promise<unknown> }[] = [];
  const warn = vi.fn();

  beforeEach(() => {
    warn.mockClear();
    Logger.overrideLogger({ log: () => undefined, error: warn, warn, fatal: warn });
  });
  afterEach(async () => {
    for (const each of open.splice(0).reverse()) await each.close();
    Logger.overrideLogger(['error', 'warn', 'fatal']);
    expect(warn.mock.calls).toEqual([]);
    expect(everythingSaid()).toEqual([]);
  });

  async function testbedWith(...args: Parameters<typeof createLensTestbed>): Promise<LensTestbed> {
    const testbed = await createLensTestbed(...args);
    open.push({ close: () => testbed.dispose() });
    return testbed;
  }
  async function start(root: new () => object): Promise<INestApplication> {
    const app = await NestFactory.create(root, platform.create(), { abortOnError: false });
    open.push(app);
    await app.listen(0, '127.0.0.1');
    return app;
  }
  const get = async (app: INestApplication, path = '/orders/tea'): Promise<string> =>
    (await fetch(`${await app.getUrl()}${path}`)).text();

  it.each([
    ['before', true],
    ['after', false],
  ])(
    'H2: is captured though telemetry is off where it runs, with forRoot %s its features',
    async (_where, isFirst) => {
      const testbed = await testbedWith();
      const app = await start(rootModule({}, isFirst));
      expect(await get(app)).toBe('tea taken');
      expect(testbed.tree()).toBe(TREE);
    },
  );

  it('H1: is captured whatever it says of telemetry, and exports nothing itself', async () => {
    const own = captureSpans();
    const testbed = await testbedWith({ spec: 'stock' });
    const app = await start(
      rootModule({
        config: { enabled: true, spanGroups: 'orders', exporter: 'otlp', metricsEnabled: true },
        telemetry: { spanProcessors: [own.spanProcessor], instrumentations: [] },
        setupAt: 'init',
      }),
    );
    await get(app);
    expect(testbed.tree()).toBe('stock.take [stock]');
    expect(own.spans()).toEqual([]);
    expect(JSON.parse(await get(app, '/lens/groups'))).toMatchObject({
      telemetry: { enabled: true, exporting: true, mode: 'attach' },
      spec: { configured: 'stock', active: 'stock', override: null },
      enabled: ['stock'],
      pending: [],
      namespaces: ['shop', 'warehouse'],
      warnings: [],
    });
  });

  it('H1: that was started before the testbed is captured as well, and then its own exporter again', async () => {
    const own = captureSpans();
    const app = await start(
      rootModule({
        config: { enabled: true, spanGroups: 'orders', metricsEnabled: false },
        telemetry: { spanProcessors: [own.spanProcessor] },
      }),
    );
    const testbed = await testbedWith();
    await get(app);
    expect(testbed.tree()).toBe(TREE);
    expect(own.spans()).toEqual([]);
    await testbed.dispose();
    await get(app);
    expect(own.spans().map(({ name }) => name)).toEqual(['OrdersController.place']);
    expect(testbed.spans()).toHaveLength(3);
  });

  it('H2: that was started before the testbed, with telemetry off, is off again afterwards', async () => {
    const app = await start(rootModule());
    const testbed = await testbedWith({ spec: 'orders,stock' });
    await get(app);
    await testbed.dispose();
    await get(app);
    expect(testbed.tree()).toBe('OrdersController.place [orders]\n  stock.take [stock]');
  });

  it('T7: serves its requests with the groups of withGroups, while that runs', async () => {
    const testbed = await testbedWith({ spec: '' });
    const app = await start(rootModule());
    await testbed.withGroups('orders', () => get(app));
    await get(app);
    expect(testbed.tree()).toBe('OrdersController.place [orders]');
  });

  it('N2: takes its registrations with it when it closes, and keeps them when the testbed is reset', async () => {
    const testbed = await testbedWith();
    const app = await start(rootModule());
    await get(app);
    testbed.reset();
    await get(app);
    expect(testbed.tree()).toBe(TREE);
    expect(SpanRegistry.namespaces()).toEqual(['shop', 'warehouse']);
    await open.pop()!.close();
    expect(SpanRegistry.namespaces()).toEqual([]);
  });

  it('N2: finds the definitions that the testbed has registered already', async () => {
    const testbed = await testbedWith({ spec: 'default', definitions: [shop] });
    await get(await start(rootModule()));
    expect(testbed.tree()).toBe('OrdersController.place [orders]');
    await open.pop()!.close();
    expect(SpanRegistry.namespaces()).toEqual(['shop']);
  });

  it('N2: is one of several, each in a testbed of its own, at the same time', async () => {
    const trees = await Promise.all(
      ['orders', 'payment', 'stock'].map(async (spec) => {
        const testbed = await testbedWith({ spec });
        const app = await start(rootModule());
        await Promise.all([get(app), get(app)]);
        return testbed.tree();
      }),
    );
    expect(trees).toEqual(
      ['OrdersController.place [orders]', 'payment.charge [payment]', 'stock.take [stock]'].map((line) =>
        [line, line].join('\n'),
      ),
    );
  });

  it('N1: may be one of a testing module, and one that never listens', async () => {
    const testbed = await testbedWith();
    const testing = await Test.createTestingModule({ imports: [rootModule()] }).compile();
    open.push(testing);
    await testing.init();
    await testing.get(OrdersController).place('tea');
    expect(testbed.tree()).toBe(TREE);
  });
});
