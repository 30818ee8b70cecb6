import { describe, expect, it } from 'vitest';
import { type Type, UseGuards } from '@nestjs/common';
import { Args, Int, Query, Resolver, Subscription } from '@nestjs/graphql';
import { trace } from '@opentelemetry/api';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { express } from '../support/adapters.js';
import {
  diagnostics,
  endedAt,
  type LensApp,
  lensApp,
  type LensAppBuilder,
  namesOf,
  parentIdOf,
  theSpan,
  until,
} from '../support/lens-app.js';
import { closeAfterTest, guardTransportTests } from '../support/close-after-test.js';
import { expectSpanLife } from '../support/finished-spans.js';
import { graphqlModule, Order } from './graphql-orders.js';
import { type Binding, inOrders } from '../support/in-orders.js';
import { notingGuard, notingPipe } from '../support/noting-enhancers.js';
import { type ResultKind, subscriptionKinds, turn } from '../support/result-kinds.js';
import { onceAKind } from '../support/once-a-kind.js';
import { Timeline } from '../support/timeline.js';

/** A subscription under way; what it received so far. */
interface Subscribed {
  readonly received: unknown[];
  /** Resolves when the server has ended it. */
  readonly ended: Promise<void>;
  /** Resolves with the first message. */
  readonly first: Promise<void>;
  leave(): void;
}

function subscribeTo(lens: LensApp, query: string): Subscribed {
  const client = createClient({ url: lens.url('/graphql'), webSocketImpl: WebSocket, retryAttempts: 0 });
  closeAfterTest(() => client.dispose());
  const received: unknown[] = [];
  let leave = (): void => undefined;
  let onFirst = (): void => undefined;
  const first = new Promise<void>((resolve) => (onFirst = resolve));
  const ended = new Promise<void>((resolve) => {
    leave = client.subscribe(
      { query },
      {
        next: (result) => {
          received.push(result);
          onFirst();
        },
        error: (error) => {
          received.push(error);
          resolve();
        },
        complete: () => resolve(),
      },
    );
  });
  return { received, ended, first, leave };
}

function resolverOf(kind: ResultKind, binding: Binding, timeline: Timeline): Type<unknown> {
  @Resolver(() => Order)
  class OrdersResolver {
    @Query(() => Boolean)
    ready(): boolean {
      return true;
    }

    @Subscription(() => String, { resolve: (value: unknown) => value })
    @UseGuards(notingGuard(timeline))
    @inOrders(binding)
    placed(@Args('id', { type: () => Int }, notingPipe(timeline)) _id: number): any {
      timeline.note('called');
      return kind.handle(timeline);
    }
  }
  return OrdersResolver;
}

describe('GraphQL subscriptions', () => {
  guardTransportTests();

  const PLACED = 'subscription { placed(id: 7) }';
  const builderOf = (Resolver: Type<unknown>): LensAppBuilder =>
    lensApp(express)
      .imports(graphqlModule({ subscriptions: { 'graphql-ws': true } }))
      .providers(Resolver);

  /** What a client receives in all; one that leaves does so after the first value. */
  async function receivedFor(kind: ResultKind, lens: LensApp, timeline: Timeline): Promise<unknown[]> {
    const subscribed = subscribeTo(lens, PLACED);
    if (kind.clientLeaves) {
      await subscribed.first;
      subscribed.leave();
      await timeline.has(kind.ends);
      return subscribed.received.slice(0, 1);
    }
    await subscribed.ended;
    return subscribed.received;
  }

  /** What the client receives without NestLens. */
  const plainAnswer = onceAKind(async (kind) => {
    const timeline = new Timeline();
    const lens = await builderOf(resolverOf(kind, 'plain', timeline)).start();
    return receivedFor(kind, lens, timeline);
  });

  describe.each(['decorated', 'intercepted'] as const)('%s', (binding) => {
    it.each(subscriptionKinds)(
      'I9, I12: $result gives one span of its life, and the same answer',
      async (kind) => {
        const expected = await plainAnswer(kind);
        const timeline = new Timeline();
        const builder = builderOf(resolverOf(kind, binding, timeline)).groups('orders');
        builder.forRoot({ telemetry: { spanProcessors: [builder.tracker, timeline] } });
        const lens = await builder.start();

        expect(await receivedFor(kind, lens, timeline)).toEqual(expected);
        const span = await expectSpanLife(builder, timeline, {
          name: 'OrdersResolver.placed',
          kind,
          binding,
        });
        expect(span.attributes).toMatchObject({ 'nestlens.group': 'orders', 'nestjs.type': 'graphql' });
        expect(parentIdOf(span)).toBeUndefined();
        expect([lens.warnings, diagnostics()]).toEqual([[], []]);
      },
    );

    it.each(subscriptionKinds)('I1, I11: off, $result gives no span, and the same answer', async (kind) => {
      const expected = await plainAnswer(kind);
      const timeline = new Timeline();
      const builder = builderOf(resolverOf(kind, binding, timeline)).groups('orders', 'payment');
      builder.spec('payment').forRoot({ telemetry: { spanProcessors: [builder.tracker, timeline] } });
      const lens = await builder.start();

      expect(await receivedFor(kind, lens, timeline)).toEqual(expected);
      await timeline.has(kind.ends);
      expect(timeline.moments).not.toContain('span starts');
      expect((await lens.spans()).map(parentIdOf).filter((id) => id !== undefined)).toEqual([]);
    });

    it('I9: a client that leaves a generator that waits ends its span within 100 ms, as cancelled', async () => {
      @Resolver(() => Order)
      class OrdersResolver {
        @Query(() => Boolean)
        ready(): boolean {
          return true;
        }

        @Subscription(() => String, { resolve: (value: unknown) => value })
        @inOrders(binding)
        async *placed(): AsyncGenerator<string> {
          yield 'a';
          await new Promise(() => undefined);
        }
      }
      const lens = await builderOf(OrdersResolver).groups('orders').start();
      const subscribed = subscribeTo(lens, 'subscription { placed }');
      await subscribed.first;
      const leftAt = Date.now();
      subscribed.leave();
      expect(await until(() => lens.tracker.open.size === 0)).toBe(true);
      const span = theSpan(await lens.spans(), 'OrdersResolver.placed');

      expect(endedAt(span) - leftAt).toBeLessThan(100);
      expect(span.attributes['nestlens.cancelled']).toBe(true);
    });

    it('I9: a subscription with a filter gives one span, until it is exhausted', async () => {
      @Resolver(() => Order)
      class OrdersResolver {
        @Query(() => Boolean)
        ready(): boolean {
          return true;
        }

        @Subscription(() => String, { filter: (value) => value === 'b', resolve: (value: unknown) => value })
        @inOrders(binding)
        async *placed(): AsyncGenerator<string> {
          yield 'a';
          await turn();
          trace.getTracer('app').startSpan('inside').end();
          yield 'b';
        }
      }
      const lens = await builderOf(OrdersResolver).groups('orders').start();
      const subscribed = subscribeTo(lens, 'subscription { placed }');
      await subscribed.ended;
      const spans = await lens.spans();

      expect(subscribed.received).toEqual([{ data: { placed: 'b' } }]);
      expect(namesOf(spans)).toEqual(['OrdersResolver.placed', 'inside']);
      expect(parentIdOf(theSpan(spans, 'inside'))).toBe(
        theSpan(spans, 'OrdersResolver.placed').spanContext().spanId,
      );
    });
  });
});
