import { describe, expect, it } from 'vitest';
import {
  Body,
  Controller,
  Get,
  Header,
  HttpCode,
  Inject,
  Injectable,
  Param,
  ParseIntPipe,
  Post,
  Query,
  SetMetadata,
  UseGuards,
} from '@nestjs/common';
import type { CanActivate, ExecutionContext, Type } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { NoSpanGroup, SpanGroup } from 'nest-lens';
import { express, onEachPlatform } from '../../support/adapters.js';
import { guardEachTest, lensApp, namesOf } from '../../support/lens-app.js';
import { groupsOf, runIn } from '../../support/run-in.js';

onEachPlatform('a decorated handler', (platform) => {
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
});

describe('a decorated method, to its callers', () => {
  guardEachTest();

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
});

describe('a decorated method, to other decorators', () => {
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

  it('N5: of two groups on a class, with wrappers in between, the upper one has the one span', async () => {
    const Wrapping: ClassDecorator = (target) => {
      const prototype = target.prototype as Record<string, (...args: unknown[]) => unknown>;
      const inner = prototype.charge!;
      const outer = function (this: unknown, ...args: unknown[]): unknown {
        return inner.apply(this, args);
      };
      for (const key of Reflect.getOwnMetadataKeys(inner) as unknown[]) {
        Reflect.defineMetadata(key, Reflect.getOwnMetadata(key, inner), outer);
      }
      prototype.charge = outer;
    };
    @SpanGroup('refunds')
    @Wrapping
    @SpanGroup('payment')
    class Payments {
      charge(): string {
        return 'charged';
      }
    }
    const lens = await runIn(['payment', 'refunds'], [Payments], ({ app }) => app.get(Payments).charge());

    expect(lens.exporter.spans).toHaveLength(1);
    expect(groupsOf(lens)).toEqual({ 'Payments.charge': 'refunds' });
  });

  it('N4: marked twice, with the route decorator in between, a handler keeps its route and gives one span', async () => {
    @Controller('orders')
    class OrdersController {
      @SpanGroup('orders')
      @Get('list')
      @SpanGroup('orders')
      list(): string {
        return 'list';
      }
    }
    const lens = await lensApp(express).groups('orders').controllers(OrdersController).start();

    expect((await lens.get('/orders/list')).text).toBe('list');
    expect(namesOf(await lens.spans())).toEqual(['OrdersController.list']);
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
