import { describe, expect, it } from 'vitest';
import { HttpException, Inject, type Type, UseGuards, UseInterceptors } from '@nestjs/common';
import { APP_INTERCEPTOR, REQUEST } from '@nestjs/core';
import { Args, Int, Mutation, Parent, Query, ResolveField, Resolver } from '@nestjs/graphql';
import { SpanStatusCode } from '@opentelemetry/api';
import { managedSpan, NoSpanGroup, SpanGroup, SpanGroupInterceptor } from 'nest-lens';
import { express } from '../support/adapters.js';
import {
  diagnostics,
  type LensApp,
  lensApp,
  type LensAppBuilder,
  namesOf,
  parentIdOf,
} from '../support/lens-app.js';
import { guardTransportTests } from '../support/close-after-test.js';
import { expectSpanLife } from '../support/finished-spans.js';
import { ask, graphqlModule, Order } from './graphql-orders.js';
import { type Binding, inOrders } from '../support/in-orders.js';
import { notingGuard, notingPipe } from '../support/noting-enhancers.js';
import { graphqlKinds, type ResultKind, turn } from '../support/result-kinds.js';
import { onceAKind } from '../support/once-a-kind.js';
import { Timeline } from '../support/timeline.js';

function resolverOf(kind: ResultKind, binding: Binding, timeline: Timeline, name = 'order'): Type<unknown> {
  @Resolver(() => Order)
  class OrdersResolver {
    @Query(() => Order, { name })
    @UseGuards(notingGuard(timeline))
    @inOrders(binding)
    order(@Args('id', { type: () => Int }, notingPipe(timeline)) _id: number): any {
      timeline.note('called');
      return kind.handle(timeline);
    }
  }
  return OrdersResolver;
}

/** Resolver `at` has the query `order<at>`. */
const resolversOf = (kinds: readonly ResultKind[], binding: Binding, timeline: Timeline): Type<unknown>[] =>
  kinds.map((kind, at) => resolverOf(kind, binding, timeline, `order${at}`));

describe('GraphQL resolvers', () => {
  guardTransportTests();

  const ORDER = '{ order(id: 7) { id } }';
  const builderOf = (Resolver: Type<unknown>): LensAppBuilder =>
    lensApp(express).imports(graphqlModule()).providers(Resolver);

  /** What the client gets without NestLens. */
  const plainAnswer = onceAKind((kind) =>
    builderOf(resolverOf(kind, 'plain', new Timeline()))
      .start()
      .then((lens) => ask(lens, ORDER)),
  );

  describe.each(['decorated', 'intercepted'] as const)('%s', (binding) => {
    it.each(graphqlKinds)(
      'I9, I12: $result gives one span of its life, and the same answer',
      async (kind) => {
        const expected = await plainAnswer(kind);
        const timeline = new Timeline();
        const builder = builderOf(resolverOf(kind, binding, timeline)).groups('orders');
        builder.forRoot({ telemetry: { spanProcessors: [builder.tracker, timeline] } });
        const lens = await builder.start();

        expect(await ask(lens, ORDER)).toEqual(expected);
        const span = await expectSpanLife(builder, timeline, { name: 'OrdersResolver.order', kind, binding });
        expect(span.attributes).toEqual({
          'nestlens.group': 'orders',
          'nestjs.controller': 'OrdersResolver',
          'nestjs.callback': 'order',
          'nestjs.type': 'graphql',
          'code.function.name': 'OrdersResolver.order',
        });
        expect([lens.warnings, diagnostics()]).toEqual([[], []]);
      },
    );

    it('I1, I11: off, no kind of result gives a span, and each gives the same answer', async () => {
      const expected: unknown[] = [];
      for (const kind of graphqlKinds) expected.push(await plainAnswer(kind));
      const timeline = new Timeline();
      const builder = lensApp(express)
        .imports(graphqlModule())
        .providers(...resolversOf(graphqlKinds, binding, timeline))
        .groups('orders', 'payment');
      builder.spec('payment').forRoot({ telemetry: { spanProcessors: [builder.tracker, timeline] } });
      const lens = await builder.start();

      for (const [at, kind] of graphqlKinds.entries()) {
        const answer = await ask(lens, `{ order: order${at}(id: 7) { id } }`);
        expect([kind.result, answer]).toEqual([kind.result, expected[at]]);
      }
      expect(timeline.moments.filter((moment) => moment === 'called')).toHaveLength(graphqlKinds.length);
      expect(timeline.moments).not.toContain('span starts');
      expect((await lens.spans()).map(parentIdOf).filter((id) => id !== undefined)).toEqual([]);
    });
  });

  describe('of a list', () => {
    const COUNT = 100;
    const orders = Array.from({ length: COUNT }, (_, id) => ({ id }));
    const LIST = '{ orders { id total shape } }';

    /** A query of a hundred orders, each with a field that takes its parent, and one that takes nothing. */
    function listResolverOf(binding: Binding, group: string): Type<unknown> {
      const inFields: MethodDecorator = (target, key, descriptor) => {
        let result = descriptor;
        if (binding !== 'plain') result = (SpanGroup(group)(target, key, result) as typeof result) ?? result;
        if (binding === 'intercepted') UseInterceptors(SpanGroupInterceptor)(target, key, result);
        return result;
      };
      @Resolver(() => Order)
      class OrdersResolver {
        @Query(() => [Order])
        @inOrders(binding)
        async orders(): Promise<Order[]> {
          await turn();
          return orders;
        }

        @ResolveField(() => Int)
        @inFields
        async total(@Parent() order: Order): Promise<number> {
          await turn();
          return managedSpan('pricing', 'price', () => order.id * 2);
        }

        @ResolveField(() => String)
        shape(): string {
          return 'round';
        }
      }
      return OrdersResolver;
    }

    const expected = orders.map(({ id }) => ({ id, total: id * 2, shape: 'round' }));

    describe.each([
      ['decorated', undefined],
      ['decorated', ['interceptors' as const]],
      ['intercepted', undefined],
      ['intercepted', ['interceptors' as const, 'guards' as const, 'filters' as const]],
    ] as const)('%s, with fieldResolverEnhancers %j', (binding, enhancers) => {
      const start = (spec: string): Promise<LensApp> =>
        lensApp(express)
          .imports(graphqlModule({ fieldResolverEnhancers: enhancers && [...enhancers] }))
          .providers(listResolverOf(binding, 'order_fields'))
          .groups('orders', 'order_fields', 'pricing')
          .spec(spec)
          .start();

      it('I1: with the group of the field off, there is one span', async () => {
        const lens = await start('orders');

        expect((await ask(lens, LIST)).data.orders).toEqual(expected);
        expect(namesOf(await lens.spans())).toEqual(['OrdersResolver.orders']);
        expect(lens.tracker.started).toBe(1);
      });

      it('N5: with it on, there are 101, and none below the one that has ended', async () => {
        const lens = await start('orders,order_fields');

        expect((await ask(lens, LIST)).data.orders).toEqual(expected);
        const spans = await lens.spans();
        expect(namesOf(spans)).toEqual([
          'OrdersResolver.orders',
          ...Array<string>(COUNT).fill('OrdersResolver.total'),
        ]);
        expect(spans.map(parentIdOf).filter((id) => id !== undefined)).toEqual([]);
      });

      it('I9: what a field does is below its own span, for each of them', async () => {
        const lens = await start('order_fields,pricing');
        await ask(lens, LIST);
        const spans = await lens.spans();
        const fields = spans.filter((span) => span.name === 'OrdersResolver.total');
        const prices = spans.filter((span) => span.name === 'price');

        expect([fields, prices].map((list) => list.length)).toEqual([COUNT, COUNT]);
        expect(new Set(prices.map(parentIdOf))).toEqual(
          new Set(fields.map((span) => span.spanContext().spanId)),
        );
      });

      it('I11: with all groups of the handlers off, what a field does is at the root', async () => {
        const lens = await start('pricing');
        await ask(lens, LIST);
        const spans = await lens.spans();

        expect(namesOf(spans)).toEqual(Array(COUNT).fill('price'));
        expect(spans.map(parentIdOf).filter((id) => id !== undefined)).toEqual([]);
      });
    });
  });

  it('N4: on the class, it takes queries, mutations and fields, inherited ones too, and leaves the rest alone', async () => {
    @Resolver({ isAbstract: true })
    abstract class ReadingResolver {
      @Query(() => [Order])
      orders(): Order[] {
        return this.stored();
      }

      stored(): Order[] {
        return [{ id: 1 }];
      }
    }
    @SpanGroup('orders')
    @Resolver(() => Order)
    class OrdersResolver extends ReadingResolver {
      @Mutation(() => Order)
      place(): Order {
        return this.stored()[0]!;
      }

      @ResolveField(() => Int)
      total(): number {
        return 2;
      }

      @NoSpanGroup()
      @ResolveField(() => String)
      shape(): string {
        return 'round';
      }
    }
    const lens = await builderOf(OrdersResolver).groups('orders').start();

    expect(await ask(lens, '{ orders { id total shape } }')).toEqual({
      data: { orders: [{ id: 1, total: 2, shape: 'round' }] },
    });
    expect(await ask(lens, 'mutation { place { id } }')).toEqual({ data: { place: { id: 1 } } });
    expect(namesOf(await lens.spans())).toEqual([
      'OrdersResolver.orders',
      'OrdersResolver.place',
      'OrdersResolver.total',
    ]);
  });

  it.each([404, 500])(
    'I12: an HttpException of %i in one field of many is on its span alone',
    async (status) => {
      @Resolver(() => Order)
      class OrdersResolver {
        @Query(() => [Order])
        @SpanGroup('orders')
        orders(): Order[] {
          return [{ id: 1 }, { id: 2 }];
        }

        @ResolveField(() => Int, { nullable: true })
        @SpanGroup('orders', { attributes: (order: Order) => ({ 'order.id': order.id }) })
        discount(@Parent() order: Order): number {
          if (order.id === 2) throw new HttpException('no price', status);
          return 2;
        }
      }
      const lens = await builderOf(OrdersResolver).groups('orders').start();
      const { data } = await ask(lens, '{ orders { id discount } }');
      const spans = await lens.spans();
      const failed = spans.find((span) => span.attributes['order.id'] === 2);

      expect(data.orders).toEqual([
        { id: 1, discount: 2 },
        { id: 2, discount: null },
      ]);
      expect(spans).toHaveLength(3);
      expect(failed?.events.map((event) => event.name)).toEqual(['exception']);
      expect(failed?.status.code).toBe(status === 500 ? SpanStatusCode.ERROR : SpanStatusCode.UNSET);
      for (const span of spans) if (span !== failed) expect(span.status.code).toBe(SpanStatusCode.UNSET);
    },
  );

  it('N4: a request-scoped resolver gives a span for each query and field', async () => {
    @Resolver(() => Order)
    class OrdersResolver {
      constructor(@Inject(REQUEST) private readonly context: { req: { url: string } }) {}

      @Query(() => Order)
      @SpanGroup('orders')
      order(): Order {
        return { id: this.context.req === undefined ? 0 : 7 };
      }

      @ResolveField(() => Int)
      @SpanGroup('orders')
      total(@Parent() order: Order): number {
        return order.id * 2;
      }
    }
    const lens = await builderOf(OrdersResolver).groups('orders').start();

    expect(await ask(lens, '{ order { id total } }')).toEqual({ data: { order: { id: 7, total: 14 } } });
    expect(namesOf(await lens.spans())).toEqual(['OrdersResolver.order', 'OrdersResolver.total']);
  });

  it('N5, N6: with the interceptor global, on the resolver and on the query, a query gives one span', async () => {
    @UseInterceptors(SpanGroupInterceptor)
    @Resolver(() => Order)
    class OrdersResolver {
      @Query(() => Order)
      @UseInterceptors(SpanGroupInterceptor)
      @SpanGroup('orders')
      order(): Order {
        return { id: 7 };
      }
    }
    const lens = await builderOf(OrdersResolver)
      .groups('orders')
      .providers({ provide: APP_INTERCEPTOR, useExisting: SpanGroupInterceptor })
      .start();

    expect(await ask(lens, '{ order { id } }')).toEqual({ data: { order: { id: 7 } } });
    expect(namesOf(await lens.spans())).toEqual(['OrdersResolver.order']);
  });
});
