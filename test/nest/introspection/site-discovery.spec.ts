import { inherits } from 'node:util';
import { expect, it } from 'vitest';
import { Controller, Get, Inject, Injectable, Scope } from '@nestjs/common';
import type { Provider, Type } from '@nestjs/common';
import { SpanGroup } from 'nest-lens';
import { onEachPlatform } from '../../support/adapters.js';
import { everythingSaid, lensApp, namesOf } from '../../support/lens-app.js';

onEachPlatform('the discovery of sites', (platform) => {
  @Controller('orders')
  class OrdersController {
    @Get()
    @SpanGroup('orders')
    list(): string {
      return 'list';
    }
  }

  /** What is read of a provider while an application starts, is asked for its sites, serves and closes. */
  async function readOf(make: (read: string[]) => object, withLens: boolean): Promise<string[]> {
    const read: string[] = [];
    const provider: Provider = { provide: 'WATCHED', useValue: make(read) };
    const builder = lensApp(platform).controllers(OrdersController).providers(provider);
    const lens = await (withLens ? builder.groups('orders') : builder).start();
    await lens.get('/orders');
    await lens.get('/lens/groups?sites=1');
    await lens.close();
    return read.sort();
  }

  const watched = (read: string[]): object =>
    new Proxy(
      {},
      {
        get: (_target, key) => void read.push(`get ${String(key)}`),
        has: (_target, key) => (read.push(`has ${String(key)}`), false),
        ownKeys: () => (read.push('ownKeys'), []),
        getOwnPropertyDescriptor: (_target, key) => void read.push(`describe ${String(key)}`),
        getPrototypeOf: () => (read.push('getPrototypeOf'), Object.prototype),
        defineProperty: (_target, key) => (read.push(`define ${String(key)}`), true),
        set: (_target, key) => (read.push(`set ${String(key)}`), true),
      },
    );

  it('N7: of a provider that is a proxy, nothing is read that Nest does not read by itself', async () => {
    const byNest = await readOf(watched, false);

    expect(byNest.length).toBeGreaterThan(0);
    expect(await readOf(watched, true)).toEqual(byNest);
  });

  it('N7: of a class that is a proxy, nothing is read that Nest does not read by itself', async () => {
    const counted = (read: string[]): object => {
      class Real {}
      const instance = new Real();
      return new Proxy(instance, {
        get(target, key, receiver) {
          read.push(String(key));
          return Reflect.get(target, key, receiver) as unknown;
        },
      });
    };

    expect(await readOf(counted, true)).toEqual(await readOf(counted, false));
  });

  it('N7: getters of providers and controllers are never called, those that throw included', async () => {
    let calls = 0;
    const count = (): never => {
      calls += 1;
      throw new Error('hands off');
    };
    @Injectable()
    @SpanGroup('orders')
    class GettersOfMarkedClass {
      get expensive(): string {
        return count();
      }

      work(): string {
        return 'done';
      }
    }
    @Injectable()
    class Getters {
      get expensive(): string {
        return count();
      }

      static get shared(): string {
        return count();
      }

      @SpanGroup('orders')
      work(): string {
        return 'done';
      }
    }
    class Inherited extends Getters {}
    @Controller('getters')
    @SpanGroup('orders')
    class GettersController extends Inherited {
      get own(): string {
        return count();
      }

      @Get()
      list(): string {
        return this.work();
      }
    }
    const value = {
      get expensive(): string {
        return count();
      },
    };
    const lens = await lensApp(platform)
      .groups('orders')
      .providers(GettersOfMarkedClass, Getters, Inherited, { provide: 'VALUE', useValue: value })
      .controllers(GettersController)
      .start();
    expect((await lens.get('/getters')).text).toBe('done');
    expect((await lens.get('/lens/groups?sites=1')).status).toBe(200);
    await lens.close();

    expect(calls).toBe(0);
  });

  it('N7: frozen providers, primitives, functions and nothing at all are left as they are', async () => {
    const frozen = Object.freeze({ work: () => 'frozen' });
    const sealed = Object.seal({ work: () => 'sealed' });
    const bare = Object.assign(Object.create(null) as object, { work: () => 'bare' });
    const fn = (): string => 'function';
    const values: Record<string, unknown> = {
      frozen,
      sealed,
      bare,
      fn,
      text: 'text',
      number: 0,
      nothing: null,
      list: Object.freeze([1]),
      map: new Map([['a', 1]]),
      date: new Date(0),
    };
    const lens = await lensApp(platform)
      .groups('orders')
      .providers(...Object.entries(values).map(([provide, useValue]): Provider => ({ provide, useValue })))
      .start();
    expect((await lens.get('/lens/groups?sites=1')).status).toBe(200);

    for (const [token, value] of Object.entries(values)) expect(lens.app.get<unknown>(token)).toBe(value);
    expect(everythingSaid()).toEqual([]);
  });

  it('N7: sites are found on request-scoped, transient and inheriting providers, aliases not counted', async () => {
    @Injectable({ scope: Scope.REQUEST })
    class PerRequest {
      @SpanGroup('orders')
      work(): string {
        return 'per request';
      }
    }
    @Injectable({ scope: Scope.TRANSIENT })
    class PerUser {
      @SpanGroup('orders')
      work(): string {
        return 'per user';
      }
    }
    class Base {
      @SpanGroup('orders')
      work(): string {
        return 'base';
      }
    }
    class Inheriting extends Base {}
    @Controller('many')
    class ManyController {
      constructor(
        @Inject(PerRequest) private readonly perRequest: PerRequest,
        @Inject(PerUser) private readonly perUser: PerUser,
        @Inject(Inheriting) private readonly inheriting: Inheriting,
      ) {}

      @Get()
      list(): string[] {
        return [this.perRequest.work(), this.perUser.work(), this.inheriting.work()];
      }
    }
    const lens = await lensApp(platform)
      .groups('orders')
      .providers(PerRequest, PerUser, Inheriting, { provide: 'ALIAS', useExisting: Inheriting })
      .controllers(ManyController)
      .start();
    expect((await lens.get('/many')).json()).toEqual(['per request', 'per user', 'base']);
    const [orders] = (await lens.get('/lens/groups?sites=1')).json().groups;

    expect(orders.siteList.map((site: { name: string }) => site.name)).toEqual([
      'Inheriting.work',
      'PerRequest.work',
      'PerUser.work',
    ]);
    expect(namesOf(await lens.spans())).toEqual(['Inheriting.work', 'PerRequest.work', 'PerUser.work']);
  });

  it('N7: static methods and methods named by a symbol are sites where they are decorated themselves', async () => {
    const BY_SYMBOL = Symbol('by symbol');
    const UNMARKED = Symbol('unmarked');
    @Injectable()
    class Stock {
      @SpanGroup('orders')
      static create(): string {
        return 'created';
      }

      static unmarked(): string {
        return 'unmarked';
      }

      @SpanGroup('orders')
      [BY_SYMBOL](): string {
        return 'by symbol';
      }

      [UNMARKED](): string {
        return 'unmarked';
      }
    }
    const lens = await lensApp(platform).groups('orders').providers(Stock).start();
    const stock = lens.app.get(Stock);
    expect([Stock.create(), Stock.unmarked(), stock[BY_SYMBOL](), stock[UNMARKED]()]).toEqual([
      'created',
      'unmarked',
      'by symbol',
      'unmarked',
    ]);
    const [orders] = (await lens.get('/lens/groups?sites=1')).json().groups;

    expect(orders.sites).toBe(2);
    expect(orders.siteList).toEqual([
      { name: 'Stock.Symbol(by symbol)', kind: 'method' },
      { name: 'Stock.create', kind: 'method' },
    ]);
    expect(namesOf(await lens.spans())).toEqual(['Stock.Symbol(by symbol)', 'Stock.create']);
  });

  it('N7: a site that two modules provide is one site', async () => {
    @Injectable()
    class Shared {
      @SpanGroup('orders')
      work(): string {
        return 'shared';
      }
    }
    class One {}
    class Two {}
    const lens = await lensApp(platform)
      .groups('orders')
      .imports({ module: One, providers: [Shared] }, { module: Two, providers: [Shared] })
      .start();

    expect((await lens.get('/lens/groups')).json().groups[0].sites).toBe(1);
  });

  it('N4: handlers that a decorator above adds to a class are in its group, as CRUD generators do', async () => {
    /** Adds a handler to the class. */
    function Crud(): ClassDecorator {
      return (target) => {
        const prototype = target.prototype as Record<string, unknown>;
        prototype.getMany = () => 'many';
        Get('many')(prototype, 'getMany', Object.getOwnPropertyDescriptor(prototype, 'getMany')!);
      };
    }
    @Crud()
    @Controller('orders')
    @SpanGroup('orders')
    class CrudController {
      @Get()
      list(): string {
        return 'list';
      }
    }
    const lens = await lensApp(platform).groups('orders').controllers(CrudController).start();

    expect((await lens.get('/orders/many')).text).toBe('many');
    const [orders] = (await lens.get('/lens/groups?sites=1')).json().groups;
    expect(orders.siteList.map(({ name }: { name: string }) => name)).toEqual([
      'CrudController.getMany',
      'CrudController.list',
    ]);
    expect(namesOf(await lens.spans())).toEqual(['CrudController.getMany']);
  });

  it('N4: a class that inherits in the old style is in the group of its base class', async () => {
    @SpanGroup('orders')
    @Controller('orders')
    class BaseController {
      @Get()
      list(): string {
        return 'list';
      }
    }
    // As a compiler for ES5 writes it.
    const OldController = function OldController() {} as unknown as Type<unknown>;
    inherits(OldController, BaseController);
    const prototype = OldController.prototype as Record<string, unknown>;
    prototype.read = () => 'read';
    Get('read')(prototype, 'read', Object.getOwnPropertyDescriptor(prototype, 'read')!);
    Controller('old')(OldController);
    const lens = await lensApp(platform).groups('orders').controllers(OldController).start();

    expect((await lens.get('/old/read')).text).toBe('read');
    expect(namesOf(await lens.spans())).toEqual(['OldController.read']);
  });
});
