import { describe, expect, it } from '@jest/globals';
import {
  applyDecorators,
  Body,
  Controller,
  Get,
  Header,
  HttpCode,
  Inject,
  Injectable,
  NotFoundException,
  Param,
  ParseIntPipe,
  Post,
  Query,
  Scope,
  SetMetadata,
  UseGuards,
} from '@nestjs/common';
import type { CanActivate, ExecutionContext, Type } from '@nestjs/common';
import { ExternalContextCreator, Reflector } from '@nestjs/core';
import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { BasicTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { NoSpanGroup, SpanGroup } from 'nest-lens';
import { of } from 'rxjs';
import type { Observable } from 'rxjs';
import { express, onEachPlatform } from '../../support/adapters.js';
import {
  everythingSaid,
  guardEachTest,
  lensApp,
  namesOf,
  parentIdOf,
  RecordingExporter,
  theSpan,
} from '../../support/lens-app.js';
import type { LensApp } from '../../support/lens-app.js';

/** Runs one thing in an application in which these groups are on, and tells what was exported. */
async function runIn(
  groups: readonly string[],
  providers: Type<unknown>[],
  run: (lens: LensApp) => unknown,
  registered: readonly string[] = groups,
): Promise<LensApp> {
  const lens = await lensApp(express)
    .groups(...registered)
    .spec(groups.join(',') || 'nothing_of_these')
    .providers(...providers)
    .start();
  await run(lens);
  await lens.spans();
  return lens;
}

const groupsOf = (lens: LensApp): Record<string, unknown> =>
  Object.fromEntries(lens.exporter.spans.map((span) => [span.name, span.attributes['nestlens.group']]));

onEachPlatform('@SpanGroup on handlers', (platform) => {
  it('N4: on a method, it puts that handler alone into the group', async () => {
    @Controller('orders')
    class OrdersController {
      @Get()
      @SpanGroup('orders')
      list(): string {
        return 'list';
      }

      @Get('other')
      other(): string {
        return 'other';
      }
    }
    const lens = await lensApp(platform).groups('orders').controllers(OrdersController).start();
    await lens.get('/orders');
    await lens.get('/orders/other');

    expect(namesOf(await lens.spans())).toEqual(['OrdersController.list']);
  });

  it('N4: on a method, it works below and above the route decorator', async () => {
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
    }
    const lens = await lensApp(platform).groups('orders').controllers(OrdersController).start();

    expect((await lens.get('/orders/below')).text).toBe('b');
    expect((await lens.get('/orders/above')).text).toBe('a');
    expect(namesOf(await lens.spans())).toEqual(['OrdersController.above', 'OrdersController.below']);
  });

  it('N4: on a class, below and above @Controller, it takes the handlers and leaves other methods alone', async () => {
    @Controller('below')
    @SpanGroup('orders')
    class Below {
      @Get()
      list(): string {
        return this.format('x');
      }

      format(text: string): string {
        return text;
      }
    }
    @SpanGroup('orders')
    @Controller('above')
    class Above {
      @Get()
      list(): string {
        return this.format('x');
      }

      format(text: string): string {
        return text;
      }
    }
    const lens = await lensApp(platform).groups('orders').controllers(Below, Above).start();
    await lens.get('/below');
    await lens.get('/above');

    expect(namesOf(await lens.spans())).toEqual(['Above.list', 'Below.list']);
  });

  it("N4: the method's group wins over the class's, whichever of them is on", async () => {
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
    const seen: Record<string, string[]> = {};
    for (const spec of ['orders', 'payment', 'orders,payment']) {
      const lens = await lensApp(platform)
        .groups('orders', 'payment')
        .spec(spec)
        .controllers(OrdersController)
        .start();
      await lens.get('/orders');
      await lens.get('/orders/pay');
      seen[spec] = namesOf(await lens.spans());
      await lens.close();
    }

    expect(seen).toEqual({
      orders: ['OrdersController.list'],
      payment: ['OrdersController.pay'],
      'orders,payment': ['OrdersController.list', 'OrdersController.pay'],
    });
  });

  it("N4: @NoSpanGroup takes a handler out of its class's group, in any order of decorators", async () => {
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
    const lens = await lensApp(platform).groups('orders').controllers(OrdersController).start();

    expect((await lens.get('/orders/health')).text).toBe('up');
    expect((await lens.get('/orders/ready')).text).toBe('yes');
    await lens.get('/orders');
    expect(namesOf(await lens.spans())).toEqual(['OrdersController.list']);
  });

  describe('inheritance', () => {
    it('N4: an inherited handler is named after the class that serves it', async () => {
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
      const lens = await lensApp(platform).groups('orders').controllers(AController, BController).start();

      expect((await lens.get('/a')).text).toBe('AController');
      expect((await lens.get('/b')).text).toBe('BController');
      const spans = await lens.spans();
      expect(namesOf(spans)).toEqual(['AController.list', 'BController.list']);
      expect(theSpan(spans, 'BController.list').attributes['nestjs.controller']).toBe('BController');
    });

    it('N4: a class takes the handlers it inherits, and its siblings stay out', async () => {
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
      const lens = await lensApp(platform).groups('orders').controllers(InController, OutController).start();

      expect((await lens.get('/in')).text).toBe('InController');
      expect((await lens.get('/out')).text).toBe('OutController');
      expect(namesOf(await lens.spans())).toEqual(['InController.list']);
    });

    it('N4: a subclass that is in a group of its own takes the inherited handlers with it', async () => {
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
      const seen: Record<string, object> = {};
      for (const spec of ['orders', 'payment', 'all']) {
        const lens = await lensApp(platform)
          .groups('orders', 'payment')
          .spec(spec)
          .controllers(BaseController, SubController)
          .start();
        await lens.get('/base');
        await lens.get('/sub');
        await lens.spans();
        seen[spec] = groupsOf(lens);
        await lens.close();
      }

      expect(seen).toEqual({
        orders: { 'BaseController.list': 'orders' },
        payment: { 'SubController.list': 'payment' },
        all: { 'BaseController.list': 'orders', 'SubController.list': 'payment' },
      });
    });

    it("N4: the group of an inherited method wins over the subclass's", async () => {
      class BaseController {
        @Get()
        @SpanGroup('payment')
        list(): string {
          return 'list';
        }
      }
      @SpanGroup('orders')
      @Controller('sub')
      class SubController extends BaseController {}
      const lens = await lensApp(platform).groups('orders', 'payment').controllers(SubController).start();
      await lens.get('/sub');
      await lens.spans();

      expect(lens.exporter.spans).toHaveLength(1);
      expect(groupsOf(lens)).toEqual({ 'SubController.list': 'payment' });
    });

    it('N4: an inherited @NoSpanGroup holds for the subclass', async () => {
      class BaseController {
        @Get('health')
        @NoSpanGroup()
        health(): string {
          return 'up';
        }
      }
      @SpanGroup('orders')
      @Controller('sub')
      class SubController extends BaseController {
        @Get()
        list(): string {
          return 'list';
        }
      }
      const lens = await lensApp(platform).groups('orders').controllers(SubController).start();
      await lens.get('/sub/health');
      await lens.get('/sub');

      expect(namesOf(await lens.spans())).toEqual(['SubController.list']);
    });

    it('N4: a class-level group and super calls of overridden handlers give one span', async () => {
      class Plain {
        @Get()
        list(): string {
          return 'base';
        }
      }
      @SpanGroup('orders')
      @Controller('sub')
      class SubController extends Plain {
        @Get()
        override list(): string {
          return `${super.list()}+sub`;
        }
      }
      const lens = await lensApp(platform).groups('orders').controllers(SubController).start();

      expect((await lens.get('/sub')).text).toBe('base+sub');
      expect(namesOf(await lens.spans())).toEqual(['SubController.list']);
    });
  });

  it('N4: parameters, pipes, guards, headers and status are as without it', async () => {
    class Reading implements CanActivate {
      constructor(@Inject(Reflector) private readonly reflector: Reflector) {}

      canActivate(execution: ExecutionContext): boolean {
        return this.reflector.get<boolean>('open', execution.getHandler()) === true;
      }
    }
    function controllerWith(above: MethodDecorator, below: MethodDecorator): Type<unknown> {
      @Controller('orders')
      class OrdersController {
        @above
        @Post(':id')
        @HttpCode(202)
        @Header('x-shop', 'yes')
        @UseGuards(Reading)
        @SetMetadata('open', true)
        @below
        change(
          @Param('id', ParseIntPipe) id: number,
          @Query('by') by: string,
          @Body() body: Record<string, unknown>,
        ): object {
          return { id, by, body };
        }
      }
      return OrdersController;
    }
    const none: MethodDecorator = () => undefined;
    const marked = SpanGroup('orders') as MethodDecorator;
    const answers: object[] = [];
    for (const [above, below] of [
      [none, none],
      [marked, none],
      [none, marked],
    ] as const) {
      const lens = await lensApp(platform).groups('orders').controllers(controllerWith(above, below)).start();
      for (const id of ['7', 'seven']) {
        const { status, headers, text } = await lens.post(`/orders/${id}?by=me`, { amount: 2 });
        answers.push({ status, shop: headers['x-shop'], text });
      }
      await lens.close();
    }

    expect(answers[0]).toEqual({ status: 202, shop: 'yes', text: '{"id":7,"by":"me","body":{"amount":2}}' });
    expect(answers.slice(2, 4)).toEqual(answers.slice(0, 2));
    expect(answers.slice(4, 6)).toEqual(answers.slice(0, 2));
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

  it('N4: request-scoped controllers are traced as others are', async () => {
    @Controller({ path: 'orders', scope: Scope.REQUEST })
    @SpanGroup('orders')
    class OrdersController {
      @Get()
      list(): string {
        return 'list';
      }
    }
    const lens = await lensApp(platform).groups('orders').controllers(OrdersController).start();
    await lens.get('/orders');
    await lens.get('/orders');

    expect(namesOf(await lens.spans())).toEqual(['OrdersController.list', 'OrdersController.list']);
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

    it('T8: the name of the group is normalised once, where the site is defined', async () => {
      @Controller('orders')
      class OrdersController {
        @Get()
        @SpanGroup('  Orders ')
        list(): string {
          return 'list';
        }
      }
      const lens = await lensApp(platform).groups('orders').controllers(OrdersController).start();
      await lens.get('/orders');
      await lens.spans();

      expect(groupsOf(lens)).toEqual({ 'OrdersController.list': 'orders' });
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

  it('N4: methods that only share a name with one of Nest’s interfaces are as without it', async () => {
    @Injectable()
    class Oddly {
      use(): number {
        return 1;
      }

      intercept(): number {
        return 2;
      }

      catch(): number {
        return 3;
      }

      canActivate(): number {
        return 4;
      }

      transform(): number {
        return 5;
      }
    }
    const untouched = { ...Object.getOwnPropertyDescriptors(Oddly.prototype) };
    const lens = await runIn(['payment'], [Oddly], ({ app }) => {
      const oddly = app.get(Oddly);
      expect([oddly.use(), oddly.intercept(), oddly.catch(), oddly.canActivate(), oddly.transform()]).toEqual(
        [1, 2, 3, 4, 5],
      );
    });

    expect(Object.getOwnPropertyDescriptors(Oddly.prototype)).toEqual(untouched);
    expect(lens.exporter.spans).toEqual([]);
  });

  it('N4: this, arguments and the receiver are as without it', async () => {
    class Payments {
      rate = 2;

      @SpanGroup('payment')
      charge(...amounts: number[]): number[] {
        return amounts.map((amount) => amount * this.rate);
      }
    }
    const lens = await runIn(['payment'], [Payments], ({ app }) => {
      const payments = app.get(Payments);
      expect(payments.charge(1, 2, 3)).toEqual([2, 4, 6]);
      expect(Payments.prototype.charge.call({ rate: 10 } as Payments, 1)).toEqual([10]);
      expect(payments.charge.apply({ rate: 3 } as Payments, [1])).toEqual([3]);
      expect(payments.charge.bind({ rate: 4 } as Payments)(1)).toEqual([4]);
    });

    expect(lens.exporter.spans).toHaveLength(4);
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

  it('I12: on a method that is not a handler every throw is an error, an HttpException too', async () => {
    class Payments {
      @SpanGroup('payment')
      find(): never {
        throw new NotFoundException('no payment');
      }

      @SpanGroup('payment')
      async findLater(): Promise<never> {
        throw new NotFoundException('no payment');
      }
    }
    const lens = await runIn(['payment'], [Payments], async ({ app }) => {
      expect(() => app.get(Payments).find()).toThrow('no payment');
      await expect(app.get(Payments).findLater()).rejects.toThrow(NotFoundException);
    });

    for (const name of ['Payments.find', 'Payments.findLater']) {
      expect(theSpan(lens.exporter.spans, name).status).toMatchObject({
        code: SpanStatusCode.ERROR,
        message: 'no payment',
      });
    }
  });

  it('I12: a 404 is an error in the service that threw it, and none in the handler that lets it through', async () => {
    class Payments {
      @SpanGroup('payment')
      find(): never {
        throw new NotFoundException('no payment');
      }
    }
    @Controller('payments')
    class PaymentsController {
      constructor(@Inject(Payments) private readonly payments: Payments) {}

      @Get()
      @SpanGroup('payment')
      find(): never {
        return this.payments.find();
      }
    }
    const lens = await lensApp(express)
      .groups('payment')
      .controllers(PaymentsController)
      .providers(Payments)
      .start();
    expect((await lens.get('/payments')).status).toBe(404);
    const spans = await lens.spans();
    const handler = theSpan(spans, 'PaymentsController.find');
    const service = theSpan(spans, 'Payments.find');

    expect(handler.status.code).toBe(SpanStatusCode.UNSET);
    expect(service.status.code).toBe(SpanStatusCode.ERROR);
    expect(parentIdOf(service)).toBe(handler.spanContext().spanId);
  });

  it('N4: spans are named after the class of the object, and super gives no second span', async () => {
    class Base {
      @SpanGroup('payment')
      charge(): string {
        return 'base';
      }

      refund(): string {
        return 'base';
      }
    }
    class Sub extends Base {
      override charge(): string {
        return `${super.charge()}+sub`;
      }

      @SpanGroup('payment')
      override refund(): string {
        return `${super.refund()}+sub`;
      }
    }
    class Both extends Base {
      @SpanGroup('payment')
      override charge(): string {
        return `${super.charge()}+both`;
      }
    }
    const lens = await runIn(['payment'], [Base, Sub, Both], ({ app }) => {
      expect(app.get(Base).charge()).toBe('base');
      expect(app.get(Sub).charge()).toBe('base+sub');
      expect(app.get(Sub).refund()).toBe('base+sub');
      expect(app.get(Both).charge()).toBe('base+both');
    });

    expect(namesOf(lens.exporter.spans)).toEqual(['Base.charge', 'Both.charge', 'Sub.charge', 'Sub.refund']);
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
});

describe('@SpanGroup and what other decorators see', () => {
  guardEachTest();

  const TAG = Symbol('tag');

  /** Leaves metadata on the function and on the class, and properties on the function, as libraries do. */
  function Library(name: string): MethodDecorator {
    return (target, key, descriptor) => {
      const method = descriptor.value as unknown as Record<string | symbol, unknown>;
      Reflect.defineMetadata(`library:${name}`, { name }, method);
      Reflect.defineMetadata(`library:${name}`, { key }, target, key);
      Reflect.defineMetadata(`swagger/apiOperation:${name}`, { summary: name }, method);
      method[name] = name;
      method[TAG] = name;
    };
  }

  function describeMethod(owner: Type<unknown>, key: string): object {
    const descriptor = Object.getOwnPropertyDescriptor(owner.prototype, key)!;
    const method = descriptor.value as (...args: unknown[]) => unknown;
    const metadata = (target: object, property?: string): object =>
      Object.fromEntries(
        (property === undefined ? Reflect.getMetadataKeys(target) : Reflect.getMetadataKeys(target, property))
          .filter((name: unknown) => !/nest-?lens/i.test(String(name)))
          .sort()
          .map((name: string) => [
            String(name),
            property === undefined
              ? Reflect.getMetadata(name, target)
              : Reflect.getMetadata(name, target, property),
          ]),
      );
    return {
      name: method.name,
      length: method.length,
      attributes: [descriptor.writable, descriptor.enumerable, descriptor.configurable],
      own: Object.entries(Object.getOwnPropertyDescriptors(method)).filter(
        ([property]) => property !== 'prototype',
      ),
      tag: (method as never)[TAG],
      keys: Object.keys(method),
      onFunction: metadata(method),
      onProperty: metadata(owner.prototype as object, key),
      parameters: Reflect.getMetadata('__routeArguments__', owner, key),
      constructorName: owner.name,
    };
  }

  function declare(
    group: (place: 'above' | 'between' | 'below') => MethodDecorator,
    onClass: ClassDecorator,
  ) {
    @onClass
    @Controller('orders')
    class OrdersController {
      @group('above')
      @Library('first')
      @Get(':id')
      @group('between')
      @Library('second')
      @group('below')
      one(@Param('id') id: string, @Query('by') by: string): string {
        return id + by;
      }
    }
    return OrdersController;
  }

  const none: MethodDecorator & ClassDecorator = () => undefined;

  it.each(['above', 'between', 'below', 'class'] as const)(
    'N4: with the decorator %s, name, length, properties, metadata and parameters are as without it',
    (place) => {
      const plain = declare(() => none, none);
      const marked = declare(
        (here) => (here === place ? SpanGroup('orders') : none),
        place === 'class' ? SpanGroup('orders') : none,
      );

      expect(describeMethod(marked, 'one')).toEqual(describeMethod(plain, 'one'));
    },
  );

  it('N4: the metadata of an inherited handler that a class takes is as without it', () => {
    class Base {
      @Library('first')
      @Get()
      list(@Query('by') by: string): string {
        return by;
      }
    }
    @SpanGroup('orders')
    @Controller('orders')
    class OrdersController extends Base {}

    const method = OrdersController.prototype.list;
    expect(Reflect.getMetadata('library:first', method)).toEqual({ name: 'first' });
    expect(Reflect.getMetadata('library:first', OrdersController.prototype, 'list')).toEqual({ key: 'list' });
    expect(Reflect.getMetadata('path', method)).toBe('/');
    expect([method.name, method.length]).toEqual(['list', 1]);
  });

  it('N4: a handler that a class takes from a base answers with its parameters and pipes', async () => {
    class Base {
      @Get(':id')
      one(@Param('id', ParseIntPipe) id: number): object {
        return { id };
      }
    }
    @SpanGroup('orders')
    @Controller('orders')
    class OrdersController extends Base {}
    const lens = await lensApp(express).groups('orders').controllers(OrdersController).start();

    expect((await lens.get('/orders/7')).json()).toEqual({ id: 7 });
    expect((await lens.get('/orders/seven')).status).toBe(400);
    expect(namesOf(await lens.spans())).toEqual(['OrdersController.one']);
  });

  it('N4: a decorator that replaces the method, above or below, still has its effect', async () => {
    const Loud: MethodDecorator = (_target, _key, descriptor) => {
      const original = descriptor.value as unknown as (...args: unknown[]) => string;
      descriptor.value = function (this: unknown, ...args: unknown[]) {
        return `${original.apply(this, args)}!`;
      } as never;
    };
    class Payments {
      @Loud
      @SpanGroup('payment')
      above(): string {
        return 'a';
      }

      @SpanGroup('payment')
      @Loud
      below(): string {
        return 'b';
      }
    }
    const lens = await runIn(['payment'], [Payments], ({ app }) => {
      expect(app.get(Payments).above()).toBe('a!');
      expect(app.get(Payments).below()).toBe('b!');
    });

    expect(namesOf(lens.exporter.spans)).toEqual(['Payments.above', 'Payments.below']);
  });

  describe('with a wrapper of somebody else in between', () => {
    let wrapperCalls = 0;

    /** Replaces the method, and copies its metadata, as caching and retrying decorators do. */
    const Counting: MethodDecorator = (_target, _key, descriptor) => {
      const inner = descriptor.value as unknown as (...args: unknown[]) => unknown;
      const outer = function (this: unknown, ...args: unknown[]): unknown {
        wrapperCalls += 1;
        return inner.apply(this, args);
      };
      for (const key of Reflect.getOwnMetadataKeys(inner) as unknown[]) {
        Reflect.defineMetadata(key, Reflect.getOwnMetadata(key, inner), outer);
      }
      descriptor.value = outer as never;
    };

    class Payments {
      @SpanGroup('refunds')
      @Counting
      @SpanGroup('payment')
      regrouped(): string {
        return 'done';
      }

      @NoSpanGroup()
      @Counting
      @SpanGroup('payment')
      ungrouped(): string {
        return 'done';
      }

      @Counting
      @SpanGroup('payment')
      wrapped(): string {
        return 'done';
      }

      @SpanGroup('payment')
      @Counting
      @Counting
      @SpanGroup('payment')
      twice(): string {
        return 'done';
      }
    }
    type Method = 'regrouped' | 'ungrouped' | 'wrapped' | 'twice';

    it.each<[Method, string[], number, Record<string, string>]>([
      ['regrouped', ['refunds', 'payment'], 1, { 'Payments.regrouped': 'refunds' }],
      ['regrouped', ['refunds'], 1, { 'Payments.regrouped': 'refunds' }],
      ['regrouped', ['payment'], 1, {}],
      ['ungrouped', ['payment'], 1, {}],
      ['wrapped', ['payment'], 1, { 'Payments.wrapped': 'payment' }],
      ['twice', ['payment'], 2, { 'Payments.twice': 'payment' }],
      ['regrouped', [], 1, {}],
    ])(
      'N4: %s, with %j on: the wrapper runs, and the topmost decorator decides',
      async (method, groups, calls, spans) => {
        wrapperCalls = 0;
        const lens = await runIn(
          groups,
          [Payments],
          ({ app }) => expect(app.get(Payments)[method]()).toBe('done'),
          ['refunds', 'payment'],
        );

        expect(wrapperCalls).toBe(calls);
        expect(lens.exporter.spans).toHaveLength(Object.keys(spans).length);
        expect(groupsOf(lens)).toEqual(spans);
      },
    );

    it('N7: the topmost decorator decides which group the site is in', async () => {
      const lens = await runIn(['payment', 'refunds'], [Payments], () => undefined);
      const { groups } = (await lens.get('/lens/groups?sites=1')).json();

      expect(
        groups.map(({ name, siteList }: { name: string; siteList: { name: string }[] }) => [
          name,
          siteList.map((site) => site.name),
        ]),
      ).toEqual([
        ['payment', ['Payments.twice', 'Payments.wrapped']],
        ['refunds', ['Payments.regrouped']],
      ]);
    });

    it('N4: a class leaves a method that @NoSpanGroup took out to itself', async () => {
      @SpanGroup('payment')
      class Refunds {
        @NoSpanGroup()
        @Counting
        @SpanGroup('payment')
        ungrouped(): string {
          return 'done';
        }
      }
      wrapperCalls = 0;
      const lens = await runIn(['payment'], [Refunds], ({ app }) => app.get(Refunds).ungrouped());

      expect(wrapperCalls).toBe(1);
      expect(lens.exporter.spans).toEqual([]);
    });
  });

  it('N4: the class is the same class', () => {
    class Original {
      list(): string {
        return 'list';
      }
    }
    const returned = (SpanGroup('orders') as ClassDecorator)(Original);

    expect(returned === undefined || returned === Original).toBe(true);
    expect(new Original()).toBeInstanceOf(Original);
    expect(Object.keys(Original.prototype)).toEqual([]);
  });

  it('N4: marked twice with the same group, a method gives one span', async () => {
    class Payments {
      @SpanGroup('payment')
      @SpanGroup('payment')
      charge(): string {
        return 'charged';
      }
    }
    const lens = await runIn(['payment'], [Payments], ({ app }) => app.get(Payments).charge());

    expect(namesOf(lens.exporter.spans)).toEqual(['Payments.charge']);
  });
});

describe('@SpanGroup on handlers that are not HTTP', () => {
  guardEachTest();

  // The metadata that Nest's own packages leave: those packages needn't be installed.
  const pattern = (name: string): MethodDecorator =>
    applyDecorators(
      SetMetadata('microservices:pattern', [name]),
      SetMetadata('microservices:handler_type', 1),
    );
  const message = (name: string): MethodDecorator =>
    applyDecorators(SetMetadata('websockets:message_mapping', true), SetMetadata('message', name));
  const query = (name: string): MethodDecorator =>
    applyDecorators(
      SetMetadata('graphql:resolver_type', 'Query'),
      SetMetadata('graphql:resolver_name', name),
    );

  @SpanGroup('orders')
  @Controller()
  class OrdersConsumer {
    @pattern('orders.list')
    list(): string {
      return this.format();
    }

    format(): string {
      return 'consumed';
    }
  }

  @SpanGroup('orders')
  @SetMetadata('websockets:is_gateway', true)
  @Injectable()
  class OrdersGateway {
    @message('list')
    list(): Observable<string> {
      return of(this.format());
    }

    format(): string {
      return 'pushed';
    }
  }

  @SpanGroup('orders')
  @Injectable()
  class OrdersResolver {
    @query('orders')
    async list(): Promise<string> {
      return this.format();
    }

    format(): string {
      return 'resolved';
    }
  }

  it.each([
    ['rpc', OrdersConsumer, 'consumed'],
    ['ws', OrdersGateway, 'pushed'],
    ['graphql', OrdersResolver, 'resolved'],
  ] as const)(
    'N4: of type %s: a class takes its handlers, and only those',
    async (type, Handlers, result) => {
      // Made by hand: Nest would open a socket for a gateway that it knows of.
      const lens = await runIn(['orders'], [], async ({ app }) => {
        const instance: { list(): unknown } = new Handlers();
        const handler = app
          .get(ExternalContextCreator)
          .create(
            instance,
            instance.list,
            'list',
            undefined,
            undefined,
            undefined,
            undefined,
            undefined,
            type as never,
          );
        expect(await handler()).toBe(result);
      });

      const span = theSpan(lens.exporter.spans, `${Handlers.name}.list`);
      expect(lens.exporter.spans).toHaveLength(1);
      expect(span.attributes).toMatchObject({
        'nestlens.group': 'orders',
        'nestjs.controller': Handlers.name,
        'nestjs.callback': 'list',
      });
      expect(Object.keys(span.attributes).filter((key) => key.startsWith('http.'))).toEqual([]);
    },
  );
});
