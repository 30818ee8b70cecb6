import { describe, expect, it } from 'vitest';
import { Controller, type Type, UseGuards } from '@nestjs/common';
import { EventPattern, MessagePattern, Payload } from '@nestjs/microservices';
import { trace } from '@opentelemetry/api';
import { managedSpan, SpanGroup } from 'nest-lens';
import { Observable, Subject } from 'rxjs';
import { captureWarnings } from '../support/capture-warnings.js';
import { express } from '../support/adapters.js';
import { lensApp, type LensAppBuilder, namesOf, parentIdOf, theSpan, until } from '../support/lens-app.js';
import { guardTransportTests } from '../support/close-after-test.js';
import { expectSpanLife, finishedSpans } from '../support/finished-spans.js';
import { type Binding, inOrders } from '../support/in-orders.js';
import { notingGuard, notingPipe } from '../support/noting-enhancers.js';
import { eventKinds, messageKinds, type ResultKind, turn } from '../support/result-kinds.js';
import { startMicroservice } from './tcp-microservice.js';
import { onceAKind } from '../support/once-a-kind.js';
import { Timeline } from '../support/timeline.js';

type PatternDecorator = typeof MessagePattern;

function consumerOf(
  Pattern: PatternDecorator | typeof EventPattern,
  kind: ResultKind,
  binding: Binding,
  timeline: Timeline,
): Type<unknown> {
  @Controller()
  class OrdersConsumer {
    @((Pattern as PatternDecorator)('orders'))
    @UseGuards(notingGuard(timeline))
    @inOrders(binding)
    handle(@Payload(notingPipe(timeline)) _data: unknown): unknown {
      timeline.note('called');
      return kind.handle(timeline);
    }
  }
  return OrdersConsumer;
}

/** An application with a timeline among its span processors. */
function builderOf(timeline: Timeline, spec: string): LensAppBuilder {
  const builder = lensApp(express).groups('orders', 'payment').spec(spec);
  return builder.forRoot({ telemetry: { spanProcessors: [builder.tracker, timeline] } });
}

describe('handlers of messages over TCP', () => {
  guardTransportTests();

  /** What the client gets without NestLens. */
  const plainAnswer = onceAKind(async (kind) => {
    const controller = consumerOf(MessagePattern, kind, 'plain', new Timeline());
    const { send } = await startMicroservice(lensApp(express).controllers(controller));
    return send('orders');
  });

  describe.each(['decorated', 'intercepted'] as const)('%s', (binding) => {
    it.each(messageKinds)(
      'I9, I12: $result gives one span of its life, and the same answer',
      async (kind) => {
        const expected = await plainAnswer(kind);
        const warnings = captureWarnings();
        const timeline = new Timeline();
        const builder = builderOf(timeline, 'orders');
        const { send } = await startMicroservice(
          builder.controllers(consumerOf(MessagePattern, kind, binding, timeline)),
        );

        expect(await send('orders')).toEqual(expected);
        const span = await expectSpanLife(builder, timeline, {
          name: 'OrdersConsumer.handle',
          kind,
          binding,
        });
        expect(span.attributes).toEqual({
          'nestlens.group': 'orders',
          'nestjs.controller': 'OrdersConsumer',
          'nestjs.callback': 'handle',
          'nestjs.type': 'rpc',
          'code.function.name': 'OrdersConsumer.handle',
        });
        expect(parentIdOf(span)).toBeUndefined();
        expect(warnings.codes()).toEqual([]);
      },
    );

    it.each(messageKinds)('I1, I11: off, $result gives no span, and the same answer', async (kind) => {
      const expected = await plainAnswer(kind);
      const timeline = new Timeline();
      const builder = builderOf(timeline, 'payment');
      const { send } = await startMicroservice(
        builder.controllers(consumerOf(MessagePattern, kind, binding, timeline)),
      );

      expect(await send('orders')).toEqual(expected);
      expect(timeline.moments).not.toContain('span starts');
      expect((await finishedSpans(builder)).map(parentIdOf).filter((id) => id !== undefined)).toEqual([]);
    });

    it.each(eventKinds)('I9, I12: an event, with $result, gives one span of its life', async (kind) => {
      const timeline = new Timeline();
      const builder = builderOf(timeline, 'orders');
      const { client } = await startMicroservice(
        builder.controllers(consumerOf(EventPattern, kind, binding, timeline)),
      );
      client.emit('orders', {}).subscribe();
      await timeline.has('span ends');

      const span = await expectSpanLife(builder, timeline, { name: 'OrdersConsumer.handle', kind, binding });
      expect(span.attributes['nestjs.type']).toBe('rpc');
    });

    it.each(eventKinds)('I1: off, an event, with $result, gives no span', async (kind) => {
      const timeline = new Timeline();
      const builder = builderOf(timeline, 'payment');
      const { client } = await startMicroservice(
        builder.controllers(consumerOf(EventPattern, kind, binding, timeline)),
      );
      client.emit('orders', {}).subscribe();
      await timeline.has(kind.ends);

      expect(timeline.moments).not.toContain('span starts');
      expect((await finishedSpans(builder)).map(parentIdOf).filter((id) => id !== undefined)).toEqual([]);
    });

    it('I9: an observable that goes on keeps its span open, and the next message has one of its own', async () => {
      const stream = new Subject<number>();
      @Controller()
      class OrdersConsumer {
        @MessagePattern('watch')
        @inOrders(binding)
        watch(): Observable<number> {
          return stream;
        }

        @MessagePattern('read')
        @inOrders(binding)
        read(): string {
          return 'read';
        }
      }
      const builder = lensApp(express).groups('orders').controllers(OrdersConsumer);
      const { client, send } = await startMicroservice(builder);
      const seen: number[] = [];
      const done = new Promise<void>((resolve) =>
        client.send<number>('watch', {}).subscribe({ next: (value) => seen.push(value), complete: resolve }),
      );
      expect(await until(() => stream.observed)).toBe(true);
      stream.next(1);
      expect(await until(() => seen.length === 1)).toBe(true);
      expect(await send('read')).toEqual({ values: ['read'] });
      expect([...builder.tracker.open].map((span) => span.name)).toEqual(['OrdersConsumer.watch']);

      stream.complete();
      await done;
      const spans = await finishedSpans(builder);
      expect(namesOf(spans)).toEqual(['OrdersConsumer.read', 'OrdersConsumer.watch']);
      expect(spans.map(parentIdOf)).toEqual([undefined, undefined]);
    });

    it('I9: messages at once keep their own spans, each with its own child', async () => {
      @Controller()
      class OrdersConsumer {
        @MessagePattern('read')
        @inOrders(binding)
        async read(@Payload() id: number): Promise<number> {
          trace.getActiveSpan()?.setAttribute('order.id', id);
          await new Promise((resolve) => setTimeout(resolve, (id * 7) % 20));
          return managedSpan('orders', `child ${id}`, async () => {
            await turn();
            return id;
          });
        }

        @MessagePattern('active')
        active(): boolean {
          return trace.getActiveSpan() !== undefined;
        }
      }
      const builder = lensApp(express).groups('orders').controllers(OrdersConsumer);
      const { send } = await startMicroservice(builder);
      const ids = Array.from({ length: 50 }, (_, id) => id);
      const answers = await Promise.all(ids.map((id) => send('read', id)));
      const spans = await finishedSpans(builder);

      expect(answers.map((answer) => answer.values)).toEqual(ids.map((id) => [id]));
      expect(spans).toHaveLength(100);
      for (const id of ids) {
        const parent = spans.find((span) => span.attributes['order.id'] === id);
        expect(parent?.name).toBe('OrdersConsumer.read');
        expect(parentIdOf(theSpan(spans, `child ${id}`))).toBe(parent?.spanContext().spanId);
      }
      expect(await send('active')).toEqual({ values: [false] });
    });
  });

  it('N4: several handlers of one event give one span each, and a class in a group takes both kinds of handlers', async () => {
    @Controller()
    @SpanGroup('orders')
    class OrdersConsumer {
      @EventPattern('placed')
      remember(@Payload() _event: unknown): string {
        return this.plain();
      }

      @EventPattern('placed')
      async confirm(@Payload() _event: unknown): Promise<void> {
        await turn();
      }

      @MessagePattern('count')
      count(): number {
        return 2;
      }

      plain(): string {
        return 'remembered';
      }
    }
    const builder = lensApp(express).groups('orders').controllers(OrdersConsumer);
    const { client, send } = await startMicroservice(builder);
    client.emit('placed', {}).subscribe();
    expect(await until(() => builder.tracker.started === 2)).toBe(true);
    expect(await send('count')).toEqual({ values: [2] });

    expect(namesOf(await finishedSpans(builder))).toEqual([
      'OrdersConsumer.confirm',
      'OrdersConsumer.count',
      'OrdersConsumer.remember',
    ]);
  });
});
