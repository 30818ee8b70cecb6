import type { Server } from 'node:http';
import request from 'supertest';
import { describe, expect, it, vi } from 'vitest';
import { Controller, Get, Injectable, Module, Scope, UseGuards } from '@nestjs/common';
import type { CanActivate, INestApplication, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { enabledSpanGroups, NestLensModule, SpanGroup, SpanRegistry } from 'nest-lens';
import { express } from '../../support/adapters.js';
import {
  everythingSaid,
  guardEachTest,
  lensApp,
  type LensApp,
  namesOf,
  RecordingExporter,
} from '../../support/lens-app.js';

describe('applications of a process that share classes', () => {
  guardEachTest();

  @Injectable()
  class Service {
    work(): string {
      return 'worked';
    }
  }

  @Injectable()
  class Guard implements CanActivate {
    canActivate(): boolean {
      return true;
    }
  }

  @Controller('orders')
  @UseGuards(Guard)
  class OrdersController {
    constructor(private readonly service: Service) {}

    @Get()
    list(): string {
      return this.service.work();
    }
  }

  @Module({ controllers: [OrdersController], providers: [Service] })
  class OrdersModule {}

  const CLASSES = [Service, Guard, OrdersController];
  const written: Record<string, PropertyDescriptor>[] = CLASSES.map(({ prototype }) =>
    Object.getOwnPropertyDescriptors(prototype),
  );
  const isAsWritten = (): boolean =>
    CLASSES.every(({ prototype }, index) =>
      Object.entries(written[index]!).every(
        ([key, { value }]) => Object.getOwnPropertyDescriptor(prototype, key)?.value === value,
      ),
    );
  const ALL = { handlers: 'handlers', enhancers: 'pipeline', providers: 'services' };
  const TREE = ['Guard.canActivate', 'OrdersController.list', 'Service.work'];

  const start = (autoGroups?: object, module: Type<unknown> = OrdersModule): Promise<LensApp> =>
    lensApp(express)
      .forRoot(autoGroups === undefined ? {} : { autoGroups })
      .imports(module)
      .start();

  /** The spans since the last time; the set-up, and so the exporter, is that of the first application. */
  async function spansOf(lens: LensApp, of: LensApp = lens): Promise<string[]> {
    await lens.spans();
    of.exporter.spans.length = 0;
    expect((await lens.get('/orders')).text).toBe('worked');
    await of.spans();
    return namesOf(of.exporter.spans);
  }

  it('no wrapper and no group is left when the one with the option has closed', async () => {
    const lens = await start(ALL);
    expect(isAsWritten()).toBe(false);
    expect(await spansOf(lens)).toEqual(TREE);
    await lens.close();
    expect(isAsWritten()).toBe(true);
    expect(SpanRegistry.namespaces()).toEqual([]);
    expect([...enabledSpanGroups()]).toEqual([]);
    expect(everythingSaid()).toEqual([]);
  });

  it('the one without the option makes none of these spans and lists none of these sites', async () => {
    const withIt = await start(ALL);
    const without = await start();
    expect(await spansOf(without, withIt)).toEqual([]);
    expect(await spansOf(withIt)).toEqual(TREE);
    const sites = async (lens: LensApp): Promise<number> => {
      const { groups } = (await lens.get('/lens/groups')).json();
      return groups.reduce((sum: number, group: any) => sum + group.sites, 0);
    };
    expect([await sites(withIt), await sites(without)]).toEqual([3, 0]);
    await without.close();
    expect(await spansOf(withIt)).toEqual(TREE);
  });

  it('the one without it goes on when the other has closed, though its routes hold the wrappers', async () => {
    const withIt = await start(ALL);
    const without = await start();
    await withIt.close();
    expect(isAsWritten()).toBe(true);
    expect((await without.get('/orders')).text).toBe('worked');
    expect(await spansOf(without, withIt)).toEqual([]);
  });

  it('two with the option share the gates; each keeps them until the second has closed', async () => {
    const first = await start(ALL);
    const second = await start(ALL);
    expect(await spansOf(second, first)).toEqual(TREE);
    await first.close();
    expect(isAsWritten()).toBe(false);
    expect(SpanRegistry.namespaces()).toEqual(['auto']);
    expect(await spansOf(second, first)).toEqual(TREE);
    await second.close();
    expect(isAsWritten()).toBe(true);
  });

  it('two with other groups leave nothing behind, in whatever order they close', async () => {
    for (const order of [
      [0, 1],
      [1, 0],
    ] as const) {
      const lenses = [await start(ALL), await start({ handlers: 'others', providers: 'others' })] as const;
      expect(await spansOf(lenses[0])).toEqual(expect.arrayContaining(['Guard.canActivate']));
      await lenses[order[0]].close();
      expect((await lenses[order[1]].get('/orders')).text).toBe('worked');
      await lenses[order[1]].close();
      expect(isAsWritten()).toBe(true);
      expect(SpanRegistry.namespaces()).toEqual([]);
    }
  });

  it.each([
    ['option', 0],
    ['option', 1],
    ['group', 0],
    ['group', 1],
  ] as const)(
    'N4: one with the option and one whose module is in a group have each its own: the %s starts first, number %i closes first',
    async (startsFirst, closesFirst) => {
      @SpanGroup('shop')
      @Module({ controllers: [OrdersController], providers: [Service] })
      class ShopModule {}
      const startNext = {
        option: () => start({ handlers: 'handlers' }),
        group: () => lensApp(express).groups('shop').forRoot({}).imports(ShopModule).start(),
      };
      const order =
        startsFirst === 'option' ? (['option', 'group'] as const) : (['group', 'option'] as const);
      const expected = { option: 'OrdersController.list handlers', group: 'OrdersController.list shop' };
      const lenses = [await startNext[order[0]](), await startNext[order[1]]()] as const;
      const groupsOf = async (index: 0 | 1): Promise<string[]> => {
        await spansOf(lenses[index], lenses[0]);
        return lenses[0].exporter.spans.map(
          ({ name, attributes }) => `${name} ${String(attributes['nestlens.group'])}`,
        );
      };
      for (const index of [0, 1] as const) expect(await groupsOf(index)).toEqual([expected[order[index]]]);
      await lenses[closesFirst].close();
      const stays = closesFirst === 0 ? 1 : 0;
      expect(await groupsOf(stays)).toEqual([expected[order[stays]]]);
      await lenses[stays].close();
      expect(isAsWritten()).toBe(true);
    },
  );

  it('an application without NestLens serves on, before and after', async () => {
    const withIt = await start(ALL);
    const plain = await NestFactory.create(OrdersModule, express.create(), { logger: false });
    await plain.init();
    expect(plain.get(OrdersController).list()).toBe('worked');
    await withIt.close();
    expect(plain.get(OrdersController).list()).toBe('worked');
    await plain.close();
  });

  it('what somebody has put over a gate stays, and the gate below it is off for good', async () => {
    const lens = await start({ providers: 'services' });
    const spy = vi.spyOn(Service.prototype, 'work').mockReturnValueOnce('mocked');
    expect((await lens.get('/orders')).text).toBe('mocked');
    expect(await spansOf(lens)).toEqual(['Service.work']);
    const other = await start();
    await lens.close();
    expect(await spansOf(other, lens)).toEqual([]);
    spy.mockRestore();
    expect(new Service().work()).toBe('worked');
    Object.defineProperty(Service.prototype, 'work', written[0]!.work!);
  });

  it('one that starts again after its close makes the same spans, those of its module groups too', async () => {
    @Controller('stock')
    class StockController {
      @Get()
      list(): string {
        return 'counted';
      }
    }
    @SpanGroup('stock')
    @Module({ controllers: [StockController] })
    class StockModule {}
    const exporter = new RecordingExporter();
    const lens = NestLensModule.forRoot({
      autoGroups: ALL,
      registrations: [{ namespace: 'shop', groups: ['stock'] }],
      config: { enabled: true, spanGroups: 'all', metricsEnabled: false },
      telemetry: { spanExporter: exporter },
    });
    const testing = await Test.createTestingModule({ imports: [lens, OrdersModule, StockModule] }).compile();
    for (let round = 1; round <= 2; round++) {
      const app = testing.createNestApplication<INestApplication<Server>>();
      await app.init();
      for (const path of ['/orders', '/stock']) await request(app.getHttpServer()).get(path).expect(200);
      await app.close();
      expect(namesOf(exporter.spans.splice(0))).toEqual([...TREE, 'StockController.list'].sort());
      expect(isAsWritten()).toBe(true);
    }
  });

  it('one that spies before the start has its spy back', async () => {
    const spy = vi.spyOn(Service.prototype, 'work');
    const lens = await start({ providers: 'services' });
    expect(await spansOf(lens)).toEqual(['Service.work']);
    expect(Service.prototype.work).toHaveBeenCalledTimes(1);
    await lens.close();
    expect(Service.prototype.work).toBe(spy);
    spy.mockRestore();
    expect(isAsWritten()).toBe(true);
  });

  it.each([0, 1])(
    'two groups for an inherited method: no copy of it is left, number %i closes first',
    async (first) => {
      @Injectable()
      class Derived extends Service {}
      @Module({ providers: [Derived] })
      class DerivedModule {}
      const both = [
        await start({ providers: 'services' }, DerivedModule),
        await start({ providers: 'others' }, DerivedModule),
      ];
      expect(Object.hasOwn(Derived.prototype, 'work')).toBe(true);
      await both[first]!.close();
      expect(Object.hasOwn(Derived.prototype, 'work')).toBe(true);
      await both[1 - first]!.close();
      expect(Object.hasOwn(Derived.prototype, 'work')).toBe(false);
    },
  );

  it('instances for each request are those of whoever runs: nothing breaks', async () => {
    @Injectable({ scope: Scope.REQUEST })
    class Scoped {
      work(): string {
        return 'scoped';
      }
    }
    @Controller('orders')
    class ScopedController {
      constructor(private readonly scoped: Scoped) {}

      @Get()
      list(): string {
        return `${this.scoped.work()}`;
      }
    }
    @Module({ controllers: [ScopedController], providers: [Scoped] })
    class ScopedModule {}
    const withIt = await start(ALL, ScopedModule);
    const without = await start(undefined, ScopedModule);
    for (const lens of [withIt, without]) expect((await lens.get('/orders')).text).toBe('scoped');
  });

  describe('and a class that is left out', () => {
    const leftOut = (): { Base: Type<Service>; Out: Type<Service> } => {
      @Injectable()
      class Base extends Service {
        override work(): string {
          return 'base';
        }
      }
      @Injectable()
      class Out extends Base {}
      return { Base, Out };
    };
    const startWithout = (
      { Base, Out }: { Base: Type<Service>; Out: Type<Service> },
      exclude: Type<unknown>[],
      providers = 'services',
    ): Promise<LensApp> =>
      lensApp(express).forRoot({ autoGroups: { providers, exclude } }).providers(Base, Out).start();
    const namesIn = async (lens: LensApp, of: LensApp): Promise<string[]> => {
      await lens.spans();
      return namesOf(of.exporter.spans.splice(0));
    };

    it.each([
      ['the same group', 'services'],
      ['another group', 'others'],
    ])('both obey exclude, with %s, and the second when the first has closed', async (_title, group) => {
      const classes = leftOut();
      const { Base, Out } = classes;
      const one = await startWithout(classes, [Out]);
      const two = await startWithout(classes, [Out], group);
      for (const lens of [one, two]) expect(lens.app.get(Out).work()).toBe('base');
      expect(await namesIn(two, one)).toEqual([]);
      await one.close();
      expect(two.app.get(Out).work()).toBe('base');
      expect(await namesIn(two, one)).toEqual([]);
      await two.close();
      expect(Object.hasOwn(Out.prototype, 'work')).toBe(false);
      expect(new Base().work()).toBe('base');
    });

    it.each([0, 1])('by one of them only: nothing is left on it, number %i closes first', async (first) => {
      const classes = leftOut();
      const both = [await startWithout(classes, [classes.Out]), await startWithout(classes, [])];
      await both[first]!.close();
      await both[1 - first]!.close();
      expect(Object.hasOwn(classes.Out.prototype, 'work')).toBe(false);
    });
  });

  it('a handler whose group is off makes no span in the group of its base class', async () => {
    abstract class Base {
      @Get('one')
      one(): string {
        return 'one';
      }
    }
    @Controller('mid')
    class Mid extends Base {}
    @Controller('leaf')
    class Leaf extends Mid {}
    @SpanGroup('aa')
    @Module({ controllers: [Leaf] })
    class A {}
    @SpanGroup('bb')
    @Module({ controllers: [Mid] })
    class B {}
    const lens = await lensApp(express).groups('aa', 'bb').spec('bb').forRoot().imports(A, B).start();
    expect((await lens.get('/leaf/one')).text).toBe('one');
    expect((await lens.get('/mid/one')).text).toBe('one');
    expect(namesOf(await lens.spans())).toEqual(['Mid.one']);
  });
});
