import { describe, expect, it } from 'vitest';
import { applyDecorators, Controller, Get, Injectable, Param, Scope, SetMetadata } from '@nestjs/common';
import type { Type } from '@nestjs/common';
import { context, SpanKind, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { BasicTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { NoSpanGroup, SpanGroup } from 'nest-lens';
import { onEachPlatform } from '../../support/adapters.js';
import {
  everythingSaid,
  guardEachTest,
  lensApp,
  namesOf,
  parentIdOf,
  RecordingExporter,
  theSpan,
} from '../../support/lens-app.js';
import { groupsOf, runIn } from '../../support/run-in.js';

onEachPlatform('@SpanGroup on handlers', (platform) => {
  interface Row {
    readonly title: string;
    readonly controllers: () => Type<unknown>[];
    readonly paths: readonly string[];
    /** The spans that there are, with their groups, by the spec. */
    readonly spans: Readonly<Record<string, Record<string, string>>>;
  }

  const rows: Row[] = [
    {
      title: 'on a method, above or below the route decorator, it takes that handler alone',
      controllers: () => {
        @Controller('orders')
        class OrdersController {
          @Get('below')
          @SpanGroup('orders')
          below(): string {
            return 'b';
          }

          @SpanGroup('orders')
          @Get('above')
          above(): string {
            return 'a';
          }

          @Get('other')
          other(): string {
            return 'o';
          }
        }
        return [OrdersController];
      },
      paths: ['/orders/below', '/orders/above', '/orders/other'],
      spans: { orders: { 'OrdersController.above': 'orders', 'OrdersController.below': 'orders' } },
    },
    {
      title: 'on a class, above or below @Controller, it takes the handlers and leaves other methods alone',
      controllers: () => {
        class Plain {
          format(text: string): string {
            return text;
          }
        }
        @Controller('below')
        @SpanGroup('orders')
        class Below extends Plain {
          @Get()
          list(): string {
            return this.format('x') + this.own();
          }

          own(): string {
            return 'own';
          }
        }
        @SpanGroup('orders')
        @Controller('above')
        class Above extends Plain {
          @Get()
          list(): string {
            return this.format('x');
          }
        }
        return [Below, Above];
      },
      paths: ['/below', '/above'],
      spans: { orders: { 'Above.list': 'orders', 'Below.list': 'orders' } },
    },
    {
      title: "the method's group wins over the class's, whichever of them is on",
      controllers: () => {
        @SpanGroup('orders')
        @Controller('orders')
        class OrdersController {
          @Get()
          list(): string {
            return 'list';
          }

          @Get('pay')
          @SpanGroup('payment')
          pay(): string {
            return 'pay';
          }
        }
        return [OrdersController];
      },
      paths: ['/orders', '/orders/pay'],
      spans: {
        orders: { 'OrdersController.list': 'orders' },
        payment: { 'OrdersController.pay': 'payment' },
        'orders,payment': { 'OrdersController.list': 'orders', 'OrdersController.pay': 'payment' },
      },
    },
    {
      title: "@NoSpanGroup takes a handler out of its class's group, in any order of decorators",
      controllers: () => {
        @Controller('orders')
        @SpanGroup('orders')
        class OrdersController {
          @Get()
          list(): string {
            return 'list';
          }

          @Get('health')
          @NoSpanGroup()
          health(): string {
            return 'up';
          }

          @NoSpanGroup()
          @Get('ready')
          ready(): string {
            return 'yes';
          }
        }
        return [OrdersController];
      },
      paths: ['/orders', '/orders/health', '/orders/ready'],
      spans: { orders: { 'OrdersController.list': 'orders' } },
    },
    {
      title: 'an inherited handler is named after the class that serves it',
      controllers: () => {
        abstract class Listing {
          @Get()
          @SpanGroup('orders')
          list(): string {
            return this.constructor.name;
          }
        }
        @Controller('a')
        class AController extends Listing {}
        @Controller('b')
        class BController extends Listing {}
        return [AController, BController];
      },
      paths: ['/a', '/b'],
      spans: { orders: { 'AController.list': 'orders', 'BController.list': 'orders' } },
    },
    {
      title: 'a class takes the handlers that it inherits, and its siblings stay out',
      controllers: () => {
        abstract class Listing {
          @Get()
          list(): string {
            return this.constructor.name;
          }
        }
        @SpanGroup('orders')
        @Controller('in')
        class InController extends Listing {}
        @Controller('out')
        class OutController extends Listing {}
        return [InController, OutController];
      },
      paths: ['/in', '/out'],
      spans: { orders: { 'InController.list': 'orders' } },
    },
    {
      title: 'a subclass in a group of its own takes the inherited handlers with it',
      controllers: () => {
        @SpanGroup('orders')
        @Controller('base')
        class BaseController {
          @Get()
          list(): string {
            return 'list';
          }
        }
        @SpanGroup('payment')
        @Controller('sub')
        class SubController extends BaseController {}
        return [BaseController, SubController];
      },
      paths: ['/base', '/sub'],
      spans: {
        orders: { 'BaseController.list': 'orders' },
        payment: { 'SubController.list': 'payment' },
        'orders,payment': { 'BaseController.list': 'orders', 'SubController.list': 'payment' },
      },
    },
    {
      title: "the decorator of an inherited method wins over the subclass's, @NoSpanGroup too",
      controllers: () => {
        class BaseController {
          @Get()
          @SpanGroup('payment')
          list(): string {
            return 'list';
          }

          @Get('health')
          @NoSpanGroup()
          health(): string {
            return 'up';
          }
        }
        @SpanGroup('orders')
        @Controller('sub')
        class SubController extends BaseController {
          @Get('own')
          own(): string {
            return 'own';
          }
        }
        return [SubController];
      },
      paths: ['/sub', '/sub/health', '/sub/own'],
      spans: { 'orders,payment': { 'SubController.list': 'payment', 'SubController.own': 'orders' } },
    },
    {
      title: 'request-scoped controllers are traced as others are',
      controllers: () => {
        @Controller({ path: 'orders', scope: Scope.REQUEST })
        @SpanGroup('orders')
        class OrdersController {
          @Get()
          list(): string {
            return 'list';
          }
        }
        return [OrdersController];
      },
      paths: ['/orders'],
      spans: { orders: { 'OrdersController.list': 'orders' } },
    },
    {
      title: 'the name of a group is trimmed and taken in lower case',
      controllers: () => {
        @Controller('orders')
        class OrdersController {
          @Get()
          @SpanGroup('  Orders ')
          list(): string {
            return 'list';
          }
        }
        return [OrdersController];
      },
      paths: ['/orders'],
      spans: { orders: { 'OrdersController.list': 'orders' } },
    },
  ];

  it.each(rows)('N4, T8: $title', async ({ controllers, paths, spans }) => {
    for (const [spec, expected] of Object.entries(spans)) {
      const lens = await lensApp(platform)
        .groups('orders', 'payment')
        .spec(spec)
        .controllers(...controllers())
        .start();
      for (const path of paths) expect((await lens.get(path)).status).toBe(200);

      // One span for each of them, and none besides.
      expect(namesOf(await lens.spans())).toEqual(Object.keys(expected).sort());
      expect(groupsOf(lens)).toEqual(expected);
      await lens.close();
    }
  });

  it('N4: it composes with applyDecorators', async () => {
    const Traced = (path: string): MethodDecorator =>
      applyDecorators(Get(path), SpanGroup('orders'), SetMetadata('composed', true));
    @Controller('orders')
    class OrdersController {
      @Traced('list')
      list(): string {
        return 'list';
      }
    }
    const lens = await lensApp(platform).groups('orders').controllers(OrdersController).start();

    expect((await lens.get('/orders/list')).text).toBe('list');
    expect(namesOf(await lens.spans())).toEqual(['OrdersController.list']);
    expect(Reflect.getMetadata('composed', OrdersController.prototype.list)).toBe(true);
  });

  it('N4: without the module the application answers, and makes no span although a tracer provider is there', async () => {
    const exporter = new RecordingExporter();
    trace.setGlobalTracerProvider(
      new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
    );
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    const computed: unknown[] = [];
    @SpanGroup('orders')
    @Controller('orders')
    class OrdersController {
      @Get()
      list(): string {
        return 'list';
      }

      @Get('pay')
      @SpanGroup('payment', { attributes: (...args) => ({ n: computed.push(args) }) })
      async pay(): Promise<string> {
        return 'pay';
      }
    }
    const lens = await lensApp(platform).controllers(OrdersController).start();

    expect((await lens.get('/orders')).text).toBe('list');
    expect((await lens.get('/orders/pay')).text).toBe('pay');
    expect(exporter.spans).toEqual([]);
    expect(computed).toEqual([]);
    expect(everythingSaid()).toEqual([]);
  });

  describe('options', () => {
    it('N4: an explicit name is the name of the span, the rest stays as it is', async () => {
      @Controller('orders')
      class OrdersController {
        @Get()
        @SpanGroup('orders', { name: 'orders.read' })
        list(): string {
          return 'list';
        }
      }
      const lens = await lensApp(platform).groups('orders').controllers(OrdersController).start();
      await lens.get('/orders');
      const span = theSpan(await lens.spans(), 'orders.read');

      expect(span.attributes).toMatchObject({
        'nestlens.group': 'orders',
        'nestjs.controller': 'OrdersController',
        'nestjs.callback': 'list',
      });
    });

    it('I3: attributes are computed from the arguments, when the group is on and only then', async () => {
      const computed: unknown[][] = [];
      @Controller('orders')
      class OrdersController {
        @Get(':id')
        @SpanGroup('orders', {
          kind: SpanKind.SERVER,
          attributes: (...args: unknown[]) => {
            computed.push(args);
            return { 'order.id': String(args[0]) };
          },
        })
        one(@Param('id') id: string): string {
          return id;
        }
      }
      const off = await lensApp(platform)
        .groups('orders', 'payment')
        .spec('payment')
        .controllers(OrdersController)
        .start();
      await off.get('/orders/7');
      expect(computed).toEqual([]);
      await off.close();

      const on = await lensApp(platform).groups('orders').controllers(OrdersController).start();
      await on.get('/orders/7');
      const span = theSpan(await on.spans(), 'OrdersController.one');
      expect(computed).toEqual([['7']]);
      expect(span.attributes['order.id']).toBe('7');
      expect(span.kind).toBe(SpanKind.SERVER);
    });

    it('H12: attributes that throw do not reach the client', async () => {
      @Controller('orders')
      class OrdersController {
        @Get()
        @SpanGroup('orders', {
          attributes: () => {
            throw new Error('no such field');
          },
        })
        list(): string {
          return 'list';
        }
      }
      const lens = await lensApp(platform).groups('orders').controllers(OrdersController).start();

      expect((await lens.get('/orders')).text).toBe('list');
      expect(namesOf(await lens.spans())).toEqual(['OrdersController.list']);
      expect(lens.inFlight()).toEqual([]);
    });
  });
});

describe('@SpanGroup on other providers', () => {
  guardEachTest();

  it('N4: on a method of a provider, the span is named after both and has no handler attributes', async () => {
    @Injectable()
    class Payments {
      @SpanGroup('payment')
      async charge(amount: number): Promise<number> {
        return amount * 2;
      }

      refund(): string {
        return 'refunded';
      }
    }
    const lens = await runIn(['payment'], [Payments], async ({ app }) => {
      expect(await app.get(Payments).charge(2)).toBe(4);
      expect(app.get(Payments).refund()).toBe('refunded');
    });
    const span = theSpan(lens.exporter.spans, 'Payments.charge');

    expect(lens.exporter.spans).toHaveLength(1);
    expect(span.attributes['nestlens.group']).toBe('payment');
    expect(Object.keys(span.attributes).filter((key) => key.startsWith('nestjs.'))).toEqual([]);
  });

  it('N4: on the class of a provider, each method of its own is in the group', async () => {
    @Injectable()
    @SpanGroup('payment')
    class Payments {
      charge(): string {
        return this.#check() + this.log();
      }

      @NoSpanGroup()
      log(): string {
        return 'logged';
      }

      @SpanGroup('refunds')
      refund(): string {
        return 'refunded';
      }

      #check(): string {
        return 'checked ';
      }
    }
    const lens = await runIn(['payment', 'refunds'], [Payments], ({ app }) => {
      expect(app.get(Payments).charge()).toBe('checked logged');
      expect(app.get(Payments).refund()).toBe('refunded');
    });

    expect(lens.exporter.spans).toHaveLength(2);
    expect(groupsOf(lens)).toEqual({ 'Payments.charge': 'payment', 'Payments.refund': 'refunds' });
  });

  it('N4: methods that a provider inherits are not its own', async () => {
    class Base {
      inherited(): string {
        return 'inherited';
      }
    }
    @SpanGroup('payment')
    class Payments extends Base {
      own(): string {
        return this.inherited();
      }
    }
    class Other extends Base {}
    const lens = await runIn(['payment'], [Payments, Other], ({ app }) => {
      app.get(Payments).own();
      app.get(Payments).inherited();
      app.get(Other).inherited();
    });

    expect(namesOf(lens.exporter.spans)).toEqual(['Payments.own']);
  });

  it('N4: @NoSpanGroup leaves a method the marks that it got since @SpanGroup', () => {
    class Payments {
      @NoSpanGroup()
      @SetMetadata('roles', ['admin'])
      @SpanGroup('payment')
      pay(): string {
        return 'paid';
      }
    }
    expect(Reflect.getMetadata('roles', Payments.prototype.pay)).toEqual(['admin']);
  });

  it('N4: fields, accessors, static methods and methods named by a symbol are left alone', async () => {
    let read = 0;
    const BY_SYMBOL = Symbol('by symbol');
    const staticMethod = (): string => 'static';
    @SpanGroup('payment')
    class Payments {
      static readonly create = staticMethod;

      static of(): string {
        return 'of';
      }

      field = (): string => 'field';

      get current(): string {
        read += 1;
        return 'current';
      }

      set current(_value: string) {
        read += 1;
      }

      [BY_SYMBOL](): string {
        return 'symbol';
      }

      charge(): string {
        return 'charged';
      }
    }
    const symbolMethod = Payments.prototype[BY_SYMBOL];
    const lens = await runIn(['payment'], [Payments], ({ app }) => {
      const payments = app.get(Payments);
      expect(read).toBe(0);
      expect([payments.field(), Payments.of(), Payments.create(), payments[BY_SYMBOL]()]).toEqual([
        'field',
        'of',
        'static',
        'symbol',
      ]);
      expect(payments.current).toBe('current');
      payments.charge();
    });

    expect(namesOf(lens.exporter.spans)).toEqual(['Payments.charge']);
    expect(Payments.create).toBe(staticMethod);
    expect(Payments.prototype[BY_SYMBOL]).toBe(symbolMethod);
    expect(Payments.prototype.constructor).toBe(Payments);
    expect(Object.getOwnPropertyDescriptor(Payments.prototype, 'current')?.get).toBeInstanceOf(Function);
  });

  it('N4: a class field of the name of an inherited, marked method keeps its own value', async () => {
    class Base {
      @SpanGroup('payment')
      charge(): string {
        return 'base';
      }
    }
    class Payments extends (Base as new () => { charge: () => string }) {
      override charge = (): string => 'field';
    }
    const lens = await runIn(['payment'], [Payments], ({ app }) => {
      expect(app.get(Payments).charge()).toBe('field');
    });

    expect(lens.exporter.spans).toEqual([]);
  });

  it('I4: a synchronous method stays synchronous, and its span has ended when it returns', async () => {
    const result = { paid: true };
    class Payments {
      @SpanGroup('payment')
      charge(): object {
        return result;
      }

      @SpanGroup('payment')
      fail(): never {
        throw new Error('declined');
      }
    }
    await runIn(['payment'], [Payments], (lens) => {
      const payments = lens.app.get(Payments);
      expect(payments.charge()).toBe(result);
      expect([lens.tracker.started, lens.inFlight()]).toEqual([1, []]);
      expect(() => payments.fail()).toThrow('declined');
      expect([lens.tracker.started, lens.inFlight()]).toEqual([2, []]);
    });
  });

  it('N4: called outside a request, a method gives a root span', async () => {
    class Jobs {
      @SpanGroup('payment')
      async nightly(): Promise<void> {}
    }
    const lens = await runIn(['payment'], [Jobs], ({ app }) => app.get(Jobs).nightly());

    expect(parentIdOf(theSpan(lens.exporter.spans, 'Jobs.nightly'))).toBeUndefined();
  });

  it('N4: recursion gives a span for each call, each below the one that called it', async () => {
    class Payments {
      @SpanGroup('payment')
      count(n: number): number {
        return n === 0 ? 0 : 1 + this.count(n - 1);
      }
    }
    const lens = await runIn(['payment'], [Payments], ({ app }) =>
      expect(app.get(Payments).count(2)).toBe(2),
    );
    const [innermost, middle, outermost] = lens.exporter.spans;

    expect(lens.exporter.spans).toHaveLength(3);
    expect(parentIdOf(innermost!)).toBe(middle!.spanContext().spanId);
    expect(parentIdOf(middle!)).toBe(outermost!.spanContext().spanId);
  });

  it('N4: a method that was taken off its object has the name of the decorated class', async () => {
    class Payments {
      @SpanGroup('payment')
      charge(): string {
        return 'charged';
      }
    }
    @SpanGroup('payment')
    class Refunds {
      refund(): string {
        return 'refunded';
      }
    }
    const lens = await runIn(['payment'], [Payments, Refunds], ({ app }) => {
      const { charge } = app.get(Payments);
      const { refund } = app.get(Refunds);
      expect([charge(), refund()]).toEqual(['charged', 'refunded']);
      expect(['x'].map(charge)).toEqual(['charged']);
    });

    expect(namesOf(lens.exporter.spans)).toEqual(['Payments.charge', 'Payments.charge', 'Refunds.refund']);
    expect(lens.exporter.spans.map((span) => span.attributes['code.function.name']).sort()).toEqual(
      namesOf(lens.exporter.spans),
    );
  });

  it('N4: methods work on objects without a class, frozen ones included', async () => {
    class Payments {
      @SpanGroup('payment')
      charge(): string {
        return 'charged';
      }
    }
    const bare = Object.assign(Object.create(null) as object, { charge: Payments.prototype.charge });
    const frozen = Object.freeze(new Payments());
    const lens = await runIn(['payment'], [], () => {
      expect(bare.charge()).toBe('charged');
      expect(frozen.charge()).toBe('charged');
      expect((0, Payments.prototype.charge)()).toBe('charged');
    });

    expect(lens.exporter.spans).toHaveLength(3);
    for (const span of lens.exporter.spans) expect(span.name).toMatch(/charge$/);
  });

  it('N4, I14: a method with an apply of its own is called, whether its group is on or off', async () => {
    const Applied: MethodDecorator = (_prototype, _key, descriptor) => {
      Object.assign(descriptor.value as object, { apply: () => 'another' });
    };
    class Payments {
      @SpanGroup('payment')
      @Applied
      charge(...amounts: number[]): unknown[] {
        return [this instanceof Payments, ...amounts];
      }
    }
    class CardPayments extends Payments {
      @SpanGroup('payment')
      @Applied
      override charge(...amounts: number[]): unknown[] {
        return super.charge(...amounts);
      }
    }
    const charge = (): void => {
      expect(new Payments().charge(1, 2)).toEqual([true, 1, 2]);
      expect(new CardPayments().charge(1, 2)).toEqual([true, 1, 2]);
    };
    charge();
    const lens = await runIn(['payment'], [], charge);
    expect(namesOf(lens.exporter.spans)).toEqual(['CardPayments.charge', 'Payments.charge']);
  });

  it('N4: a method key that cannot be shown is escaped in the name of its spans', async () => {
    const symbol = Symbol('a\n\u001b');
    class Payments {
      @SpanGroup('payment')
      [symbol](): void {}

      @SpanGroup('payment')
      'b\u2028c'(): void {}
    }
    const lens = await runIn(['payment'], [Payments], ({ app }) => {
      app.get(Payments)[symbol]();
      app.get(Payments)['b\u2028c']();
    });

    const names = ['Payments.Symbol(a\\n\\u001b)', 'Payments.b\\u2028c'];
    expect(namesOf(lens.exporter.spans)).toEqual(names);
    expect(lens.exporter.spans.map((span) => span.attributes['code.function.name'])).toEqual(names);
  });
});

describe('the options of @SpanGroup', () => {
  it.each<[string, unknown, string]>([
    ['name', Symbol('name'), '@SpanGroup: name must be a string, not a symbol.'],
    ['name', null, '@SpanGroup: name must be a string, not null.'],
    [
      'attributes',
      { 'order.id': 1 },
      "@SpanGroup: attributes must be a function of the method's arguments, not an object.",
    ],
    ['carrier', {}, "@SpanGroup: carrier must be a function of the method's arguments, not an object."],
    ['isError', true, '@SpanGroup: isError must be a function of the thrown value, not true.'],
    ['kind', 'CLIENT', "@SpanGroup: kind must be one of SpanKind, not the string 'CLIENT'."],
    ['kind', 7, '@SpanGroup: kind must be one of SpanKind, not 7.'],
  ])('T2: a wrong %s (%p) is refused where it is written', (option, value, message) => {
    expect(() => SpanGroup('orders', { [option]: value })).toThrow(new TypeError(message));
  });

  it('T2: options that are no object are refused where they are written', () => {
    expect(() => SpanGroup('orders', null as never)).toThrow(
      new TypeError('@SpanGroup: options must be an object, not null.'),
    );
  });

  it('T2: an option that is undefined counts as left out', () => {
    const options = { name: undefined, attributes: undefined, carrier: undefined, kind: undefined };
    expect(() => SpanGroup('orders', { ...options, isError: undefined })).not.toThrow();
  });
});
