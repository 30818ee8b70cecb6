import { describe, expect, it, vi } from 'vitest';
import { Controller, Get, Injectable, type Type } from '@nestjs/common';
import { WsAdapter } from '@nestjs/platform-ws';
import { WebSocketGateway } from '@nestjs/websockets';
import { NoSpanGroup } from 'nest-lens';
import { express } from '../../support/adapters.js';
import { everythingSaid, guardEachTest, lensApp, namesOf } from '../../support/lens-app.js';
import { AUTO, sitesOf, startWith } from './providers-in-groups.js';

/** A function that counts its calls in a property, as a spy of Sinon does. */
function counting<F extends (...args: never[]) => unknown>(fn: F): F & { callCount: number } {
  const counted = Object.assign(
    function (this: unknown, ...args: never[]) {
      counted.callCount += 1;
      return fn.apply(this, args);
    },
    { callCount: 0 },
  );
  return counted as unknown as F & { callCount: number };
}

describe('a method that autoGroups has taken, and that others change', () => {
  guardEachTest();

  const classes = (): { Base: Type<any>; Shop: Type<any>; Excluded: Type<any>; Out: Type<any> } => {
    class Base {
      price(): number {
        return 10;
      }
    }
    @Injectable()
    class Shop extends Base {
      total(): number {
        return this.price() * 2;
      }
    }
    @Injectable()
    class Excluded extends Base {}
    @NoSpanGroup()
    @Injectable()
    class Out extends Base {}
    return { Base, Shop, Excluded, Out };
  };

  it('on a base class: its subclasses obey, and their spans stay', async () => {
    const { Base, Shop } = classes();
    const lens = await startWith([Shop]);
    const spy = vi.spyOn(Base.prototype, 'price').mockReturnValue(1);
    expect(lens.app.get(Shop).total()).toBe(2);
    expect(spy).toHaveBeenCalledTimes(1);
    spy.mockRestore();
    expect(lens.app.get(Shop).total()).toBe(20);
    expect(namesOf(await lens.spans())).toEqual(['Shop.price', 'Shop.price', 'Shop.total', 'Shop.total']);
  });

  it('on a base class before the start, and puts back while the application runs', async () => {
    const { Base, Shop } = classes();
    const spy = vi.spyOn(Base.prototype, 'price').mockReturnValue(1);
    const lens = await startWith([Shop]);
    expect(lens.app.get(Shop).total()).toBe(2);
    spy.mockRestore();
    expect(lens.app.get(Shop).total()).toBe(20);
    await lens.close();
    expect(Object.hasOwn(Shop.prototype, 'price')).toBe(false);
    expect(new Shop().total()).toBe(20);
  });

  it('on a base class that is a provider, too: classes that are left out obey, and make no span', async () => {
    const { Base, Excluded, Out } = classes();
    Injectable()(Base);
    const lens = await startWith([Base, Excluded, Out], { ...AUTO, exclude: [Excluded] });
    const prices = (): number[] => [Excluded, Out, Base].map((Class) => lens.app.get(Class).price());

    expect(prices()).toEqual([10, 10, 10]);
    expect(namesOf(await lens.spans())).toEqual(['Base.price']);
    const spy = vi.spyOn(Base.prototype, 'price').mockReturnValue(1);
    expect(prices()).toEqual([1, 1, 1]);
    spy.mockRestore();
    expect(prices()).toEqual([10, 10, 10]);
    await lens.close();
    expect([Excluded, Out].map((Class) => Object.hasOwn(Class.prototype, 'price'))).toEqual([false, false]);
  });

  it('on a base class, to what the subclass has: a saved method, or one around it', async () => {
    const { Base, Shop } = classes();
    const written = Base.prototype.price as () => number;
    const lens = await startWith([Shop]);
    const shop = lens.app.get(Shop);
    const saved = shop.price as () => number;

    Base.prototype.price = () => 7;
    Base.prototype.price = saved;
    expect(shop.price()).toBe(10);
    Base.prototype.price = function (this: unknown): number {
      return saved.call(this) + 1;
    };
    expect(shop.price()).toBe(11);
    Base.prototype.price = saved;
    await lens.close();
    expect(new Shop().price()).toBe(10);
    Base.prototype.price = written;
  });

  it('on the subclass, after a spy on the base class that the start has seen was restored', async () => {
    const { Base, Shop } = classes();
    const before = vi.spyOn(Base.prototype, 'price').mockReturnValue(4);
    const lens = await startWith([Shop]);
    const shop = lens.app.get(Shop);
    expect(shop.price()).toBe(4);
    expect(vi.mocked(Shop.prototype.price).mock.calls).toHaveLength(1);
    before.mockRestore();
    expect(vi.isMockFunction(Shop.prototype.price)).toBe(false);

    const spy = vi.spyOn(Shop.prototype, 'price').mockReturnValue(9);
    expect(shop.price()).toBe(9);
    spy.mockRestore();
    expect(shop.price()).toBe(10);
  });

  it('by its own properties: both see what is set on one of them', async () => {
    @Injectable()
    class Prices {
      read(id: string): string {
        return id;
      }
    }
    class Base {
      list(): string {
        return 'all';
      }
    }
    @Injectable()
    class Derived extends Base {}
    const read = counting(Prices.prototype.read);
    const list = counting(Base.prototype.list);
    Prices.prototype.read = read;
    Base.prototype.list = list;
    const lens = await startWith([Prices, Derived]);
    const service = lens.app.get(Prices);
    service.read('a');
    service.read('b');
    lens.app.get(Derived).list();

    const gated = service.read as unknown as typeof read;
    expect(gated).not.toBe(read);
    expect([gated.callCount, Object.keys(gated)]).toEqual([2, ['callCount']]);
    expect((lens.app.get(Derived).list as unknown as typeof list).callCount).toBe(1);
    gated.callCount = 0;
    service.read('c');
    expect(read.callCount).toBe(1);
  });
});

describe('what autoGroups leaves alone', () => {
  guardEachTest();

  it('is a handler of a base class that exclude names', async () => {
    class Health {
      @Get('health')
      health(): string {
        return 'ok';
      }
    }
    @Controller('orders')
    class Orders extends Health {
      @Get()
      list(): string[] {
        return [];
      }
    }
    const lens = await lensApp(express)
      .forRoot({ autoGroups: { ...AUTO, exclude: [Health] } })
      .controllers(Orders)
      .start();
    for (const path of ['/orders', '/orders/health']) expect((await lens.get(path)).status).toBe(200);
    expect(namesOf(await lens.spans())).toEqual(['Orders.list']);
    expect(everythingSaid()).toEqual([]);
  });

  it('are the hooks of a gateway, and not methods of such a name elsewhere', async () => {
    class Hooks {
      afterInit(): void {}
      handleConnection(): void {}
      handleDisconnect(): void {}
    }
    @Injectable()
    class Doors extends Hooks {}
    @WebSocketGateway()
    class Gateway extends Hooks {
      tell(): void {}
    }
    const lens = await lensApp(express)
      .forRoot({ autoGroups: AUTO })
      .providers(Doors, Gateway)
      .configure((app) => void app.useWebSocketAdapter(new WsAdapter(app)))
      .start();
    expect(await sitesOf(lens)).toEqual([
      'Doors.afterInit',
      'Doors.handleConnection',
      'Doors.handleDisconnect',
      'Gateway.tell',
    ]);
  });
});
