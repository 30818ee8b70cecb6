import { describe, expect, it } from 'vitest';
import { Controller, Get, Injectable } from '@nestjs/common';
import { NestLensModule, SpanGroup, SpanRegistry } from 'nest-lens';
import { onEachPlatform } from '../../support/adapters.js';
import { lensApp, namesOf } from '../../support/lens-app.js';
import type { LensApp } from '../../support/lens-app.js';

const unknownGroups = (lens: LensApp) =>
  lens.warnings.filter((warning) => warning.code === 'UNKNOWN_GROUP_AT_SITE');

onEachPlatform('a site whose group nobody registered', (platform) => {
  @Controller('orders')
  class OrdersController {
    @Get()
    @SpanGroup('oders')
    list(): string {
      return 'list';
    }

    @Get('fine')
    @SpanGroup('orders')
    fine(): string {
      return 'fine';
    }
  }

  it('W9: it is warned about once, with the site, the group and the nearest registered name', async () => {
    const lens = await lensApp(platform).groups('orders', 'payment').controllers(OrdersController).start();
    await lens.get('/orders');
    await lens.get('/orders');

    expect(lens.warnings.map((warning) => warning.code)).toEqual(['UNKNOWN_GROUP_AT_SITE']);
    const { message, details } = lens.warnings[0]!;
    expect(message).toContain('OrdersController.list');
    expect(message).toContain("'oders'");
    expect(message).toContain("'orders'");
    expect(details).toMatchObject({ site: 'OrdersController.list', group: 'oders' });
  });

  it('W9: the handler answers and makes no span, its neighbours do', async () => {
    const lens = await lensApp(platform).groups('orders').controllers(OrdersController).start();

    expect((await lens.get('/orders')).text).toBe('list');
    await lens.get('/orders/fine');
    expect(namesOf(await lens.spans())).toEqual(['OrdersController.fine']);
  });

  it('W9: without a near name it says so without a guess', async () => {
    @Controller('orders')
    class FarController {
      @Get()
      @SpanGroup('warehouse')
      list(): string {
        return 'list';
      }
    }
    const lens = await lensApp(platform).groups('orders').controllers(FarController).start();

    expect(unknownGroups(lens)).toHaveLength(1);
    expect(unknownGroups(lens)[0]!.message).toContain('warehouse');
    expect(unknownGroups(lens)[0]!.message).not.toContain("'orders'");
  });

  it('W9: classes and methods of other providers are sites too', async () => {
    @Injectable()
    @SpanGroup('paymnt')
    class Payments {
      charge(): string {
        return 'charged';
      }
    }
    @Injectable()
    class Stock {
      @SpanGroup('stok')
      count(): number {
        return 1;
      }
    }
    const lens = await lensApp(platform).groups('payment', 'stock').providers(Payments, Stock).start();
    const messages = unknownGroups(lens).map((warning) => warning.message);

    expect(messages).toHaveLength(2);
    expect(messages.filter((message) => /Payments\.charge.*'paymnt'.*'payment'/.test(message))).toHaveLength(
      1,
    );
    expect(messages.filter((message) => /Stock\.count.*'stok'.*'stock'/.test(message))).toHaveLength(1);
  });

  it('W9: static methods and methods named by a symbol are sites too', async () => {
    const BY_SYMBOL = Symbol('by symbol');
    @Injectable()
    class Stock {
      @SpanGroup('stok')
      static create(): string {
        return 'created';
      }

      @SpanGroup('stok')
      [BY_SYMBOL](): string {
        return 'by symbol';
      }
    }
    const lens = await lensApp(platform).groups('stock').providers(Stock).start();

    expect(unknownGroups(lens).map(({ details }) => details)).toEqual([
      { site: 'Stock.Symbol(by symbol)', group: 'stok', nearest: 'stock' },
      { site: 'Stock.create', group: 'stok', nearest: 'stock' },
    ]);
  });

  it('W9: groups of feature modules and of libraries that register by themselves are known', async () => {
    @Injectable()
    class Registering {
      onModuleInit(): void {
        SpanRegistry.register('self_lib', ['self']);
      }
    }
    @Controller('known')
    class KnownController {
      @Get('a')
      @SpanGroup('feature')
      a(): string {
        return 'a';
      }

      @Get('b')
      @SpanGroup('self')
      b(): string {
        return 'b';
      }
    }
    const lens = await lensApp(platform)
      .groups('orders')
      .imports(NestLensModule.forFeature({ namespace: 'feature_lib', groups: ['feature'] }))
      .providers(Registering)
      .controllers(KnownController)
      .start();

    expect(lens.warnings).toEqual([]);
  });

  it('W9: a group that is registered, but off, is no reason to warn', async () => {
    const lens = await lensApp(platform)
      .groups('orders', 'oders')
      .spec('orders')
      .controllers(OrdersController)
      .start();

    expect(lens.warnings).toEqual([]);
  });

  it('W9: it is listed by the endpoint as a warning', async () => {
    const lens = await lensApp(platform).groups('orders').controllers(OrdersController).start();
    const document = (await lens.get('/lens/groups')).json();

    expect(document.warnings.map((warning: { code: string }) => warning.code)).toEqual([
      'UNKNOWN_GROUP_AT_SITE',
    ]);
    expect(document.groups.map((group: { name: string }) => group.name)).toEqual(['orders']);
  });

  describe('T6', () => {
    it('T6, W9: a library that registers the group later turns the site on', async () => {
      const lens = await lensApp(platform).groups('orders').controllers(OrdersController).start();
      SpanRegistry.register('late_lib', ['oders']);
      await lens.get('/orders');

      expect(namesOf(await lens.spans())).toEqual(['OrdersController.list']);
      expect(unknownGroups(lens)).toHaveLength(1);
    });
  });
});
