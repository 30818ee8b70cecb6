import { describe, expect, it } from 'vitest';
import {
  type CanActivate,
  Controller,
  Get,
  Injectable,
  mixin,
  type Type,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { SpanGroup, SpanGroupInterceptor } from 'nest-lens';
import { setEnabledSpanGroups } from 'nest-lens/core';
import { classNameOf } from '../../../src/nest/span-group/class-name.js';
import { onEachPlatform } from '../../support/adapters.js';
import { captureSpans } from '../../support/capture-spans.js';
import { lensApp, namesOf } from '../../support/lens-app.js';

/** Gives a class a static member called `name`, in the way that a compiler for older targets does. */
function withStaticName<C extends object>(Class: C, descriptor: PropertyDescriptor): C {
  Object.defineProperty(Class, 'name', { configurable: true, ...descriptor });
  return Class;
}

describe('the name of a class', () => {
  const unusable: [string, PropertyDescriptor][] = [
    ['a function', { value: () => 'made' }],
    ['a symbol', { value: Symbol('made') }],
    [
      'a getter that throws',
      {
        get: () => {
          throw new Error('no name');
        },
      },
    ],
    [
      'a proxy that throws',
      {
        value: new Proxy(
          {},
          {
            get: () => {
              throw new Error('no name');
            },
          },
        ),
      },
    ],
    ['an object that cannot be printed', { value: Object.create(null) }],
    ['a number', { value: 7 }],
    ['nothing', { value: undefined }],
    ['empty', { value: '' }],
    ['blank', { value: '   ' }],
    ['a line feed and an escape sequence', { value: 'Orders\n\u001b[31m' }],
    ['half a character', { value: '\ud800' }],
    ['what mixin() gives', { value: '0123456789abcdef01234' }],
  ];

  it.each(unusable)(
    'I14, N4: is that of its declaration where the static name is %s',
    (_title, descriptor) => {
      class OrdersService {}
      class Extending extends OrdersService {}
      function OldService(): void {}

      expect(classNameOf(withStaticName(OrdersService, descriptor))).toBe('OrdersService');
      expect(classNameOf(withStaticName(Extending, descriptor))).toBe('Extending');
      expect(classNameOf(withStaticName(OldService, descriptor))).toBe('OldService');
    },
  );

  it.each(unusable)(
    'I14, N4: is a word for it where nothing is declared and the static name is %s',
    (_title, descriptor) => {
      class Base {}
      for (const Class of [class {}, class extends Base {}, function (): void {}]) {
        expect(classNameOf(withStaticName(Class, descriptor))).toBe('anonymous');
      }
    },
  );

  it('N4: is its own name where that can be shown, whatever it is', () => {
    class Plain {}
    class Öffnungszeiten {}
    const Assigned = class {};
    class Renamed {}
    withStaticName(Renamed, { value: 'OrdersCrudController' });

    expect([Plain, Öffnungszeiten, Assigned, Renamed].map((Class) => classNameOf(Class))).toEqual([
      'Plain',
      'Öffnungszeiten',
      'Assigned',
      'OrdersCrudController',
    ]);
  });
});

describe('the class that the span of a call names', () => {
  class Orders {
    @SpanGroup('orders')
    static of(): string {
      return 'made';
    }

    @SpanGroup('orders')
    list(): string {
      return 'listed';
    }
  }
  class LargeOrders extends Orders {}
  const { list } = Orders.prototype;
  const ofUnreadableClass: object = Object.create({
    constructor: new Proxy(Orders, {
      getOwnPropertyDescriptor: () => {
        throw new Error('not to be read');
      },
    }),
  });

  it.each<[string, () => string, string]>([
    ['that of the object', () => new LargeOrders().list(), 'LargeOrders.list'],
    ['the class itself for a static method', () => LargeOrders.of(), 'LargeOrders.of'],
    ['its own for a method without an object', () => list.call(undefined as never), 'Orders.list'],
    ['its own for a method on a text', () => list.call('text' as never), 'Orders.list'],
    ['its own for a method on a plain object', () => list.call({} as never), 'Orders.list'],
    [
      'its own on an object whose class is none',
      () => list.call(Object.create({ constructor: 5 }) as never),
      'Orders.list',
    ],
    ['its own where the class cannot be read', () => list.call(ofUnreadableClass as never), 'Orders.list'],
  ])('N4, I14: is %s', (_title, call, name) => {
    const spans = captureSpans();
    setEnabledSpanGroups(['orders']);
    expect(['made', 'listed']).toContain(call());
    expect(spans.names()).toEqual([name]);
  });
});

describe('the name of a decorated class', () => {
  it('N4: is the one that it had when it was decorated first, whatever mixin() makes of it', () => {
    // As a bundler writes it that shortens names and keeps `name`.
    class a {}
    const Guard = withStaticName(a, { value: 'RoleGuard' });
    SpanGroup('orders')(Guard);
    mixin(Guard);
    expect(classNameOf(Guard)).toBe('RoleGuard');
    SpanGroup('orders')(Guard);
    expect(classNameOf(Guard)).toBe('RoleGuard');
  });
});

onEachPlatform('spans of classes', (platform) => {
  it("N4, N7: a mixin's spans and sites have the declared name, as handlers, guards and providers", async () => {
    const GuardFor = (role: string): Type<CanActivate> => {
      @Injectable()
      class RoleGuard implements CanActivate {
        @SpanGroup('orders')
        canActivate(): boolean {
          return role !== '';
        }
      }
      return mixin(RoleGuard);
    };
    @SpanGroup('orders')
    @Injectable()
    class Service {}
    const ServiceFor = (size: number): Type<{ count(): number }> => {
      // Not decorated itself: its group is that of its base class.
      class SizedService extends Service {
        count(): number {
          return size;
        }
      }
      return mixin(SizedService);
    };
    const Small = ServiceFor(1);
    const ControllerFor = (path: string): Type<unknown> => {
      @Controller(path)
      @SpanGroup('orders')
      @UseGuards(GuardFor('admin'))
      class CrudController {
        @Get()
        @UseInterceptors(SpanGroupInterceptor)
        list(): string {
          return path;
        }
      }
      return mixin(CrudController);
    };
    const lens = await lensApp(platform)
      .groups('orders')
      .providers(Small)
      .controllers(ControllerFor('orders'))
      .start();
    expect((await lens.get('/orders')).text).toBe('orders');
    expect(lens.app.get(Small).count()).toBe(1);
    const [orders] = (await lens.get('/lens/groups?sites=1')).json().groups;

    const names = ['CrudController.list', 'RoleGuard.canActivate', 'SizedService.count'];
    expect(namesOf(await lens.spans())).toEqual(names);
    expect(orders.siteList.map(({ name }: { name: string }) => name)).toEqual(names);
  });

  it('I14: a static member called name hurts neither the start nor a request', async () => {
    // The compiler wants the name of a decorated class to be a string, where it knows of one.
    const NAME: string = 'name';
    @Controller('orders')
    class OrdersController {
      static [NAME](): string {
        return 'a method';
      }

      @Get()
      @SpanGroup('orders')
      list(): string {
        return 'list';
      }

      @Get('wide')
      @SpanGroup('orders')
      @UseInterceptors(SpanGroupInterceptor)
      wide(): string {
        return 'wide';
      }
    }
    const lens = await lensApp(platform).groups('orders').controllers(OrdersController).start();

    expect((await lens.get('/orders')).text).toBe('list');
    expect((await lens.get('/orders/wide')).text).toBe('wide');
    expect((await lens.get('/lens/groups?sites=1')).status).toBe(200);
    expect(namesOf(await lens.spans())).toEqual(['OrdersController.list', 'OrdersController.wide']);
  });
});
