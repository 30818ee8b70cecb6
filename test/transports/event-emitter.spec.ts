import { describe, expect, it } from 'vitest';
import { Controller, Get, Injectable, Scope, type Type } from '@nestjs/common';
import { EventEmitter2, EventEmitterModule, OnEvent } from '@nestjs/event-emitter';
import { managedSpan, SpanGroup } from 'nest-lens';
import { express } from '../support/adapters.js';
import {
  diagnostics,
  lensApp,
  type LensAppBuilder,
  namesOf,
  parentIdOf,
  theSpan,
  until,
} from '../support/lens-app.js';
import { guardTransportTests } from '../support/close-after-test.js';
import { expectSpanLife } from '../support/finished-spans.js';
import { jobKinds, type ResultKind, turn } from '../support/result-kinds.js';
import { Timeline } from '../support/timeline.js';

function listenerOf(kind: ResultKind, isAsync: boolean, timeline: Timeline): Type<unknown> {
  @Injectable()
  class OrdersListener {
    @OnEvent('placed', { async: isAsync })
    @SpanGroup('orders')
    handle(): unknown {
      timeline.note('called');
      return kind.handle(timeline);
    }
  }
  return OrdersListener;
}

describe('listeners of events', () => {
  guardTransportTests();

  const builderOf = (Listener: Type<unknown>): LensAppBuilder =>
    lensApp(express).imports(EventEmitterModule.forRoot()).providers(Listener);

  describe.each([false, true])('with async %s', (isAsync) => {
    it.each(jobKinds)('I9, I12: $result gives one span of its life', async (kind) => {
      const timeline = new Timeline();
      const builder = builderOf(listenerOf(kind, isAsync, timeline)).groups('orders');
      builder.forRoot({ telemetry: { spanProcessors: [builder.tracker, timeline] } });
      const lens = await builder.start();
      lens.app.get(EventEmitter2).emit('placed', { id: 7 });
      await timeline.has('span ends');

      const span = await expectSpanLife(builder, timeline, {
        name: 'OrdersListener.handle',
        kind,
        binding: 'job',
      });
      expect(parentIdOf(span)).toBeUndefined();
      expect([lens.warnings, diagnostics()]).toEqual([[], []]);
    });

    it.each(jobKinds)('I1: off, $result gives no span', async (kind) => {
      const timeline = new Timeline();
      const builder = builderOf(listenerOf(kind, isAsync, timeline)).groups('orders', 'payment');
      builder.spec('payment').forRoot({ telemetry: { spanProcessors: [builder.tracker, timeline] } });
      const lens = await builder.start();
      lens.app.get(EventEmitter2).emit('placed', { id: 7 });
      await timeline.has(kind.ends);

      expect(timeline.moments).not.toContain('span starts');
    });

    it('I9: emitted inside a span, the listeners are its children; what they do is theirs; the next event has none of it', async () => {
      @Injectable()
      class OrdersListener {
        @OnEvent('placed', { async: isAsync })
        @SpanGroup('orders')
        confirm(): void {
          managedSpan('orders', 'confirm inside', () => undefined);
        }

        @OnEvent('placed', { async: isAsync })
        @SpanGroup('orders')
        async remember(): Promise<void> {
          await turn();
          await managedSpan('orders', 'remember inside', turn);
        }
      }
      @Controller('orders')
      class OrdersController {
        constructor(private readonly emitter: EventEmitter2) {}

        @Get()
        @SpanGroup('orders')
        place(): string {
          this.emitter.emit('placed');
          return 'placed';
        }
      }
      const lens = await builderOf(OrdersListener).controllers(OrdersController).groups('orders').start();
      await lens.get('/orders');
      const spans = await lens.spans();
      const idOf = (name: string): string => theSpan(spans, name).spanContext().spanId;

      expect(spans).toHaveLength(5);
      for (const listener of ['confirm', 'remember']) {
        expect(parentIdOf(theSpan(spans, `OrdersListener.${listener}`))).toBe(idOf('OrdersController.place'));
        expect(parentIdOf(theSpan(spans, `${listener} inside`))).toBe(idOf(`OrdersListener.${listener}`));
      }

      spans.length = 0;
      lens.app.get(EventEmitter2).emit('placed');
      expect(await until(() => lens.tracker.started === 9)).toBe(true);
      const ofNext = await lens.spans();
      expect(namesOf(ofNext)).toContain('OrdersListener.remember');
      expect(parentIdOf(theSpan(ofNext, 'OrdersListener.remember'))).toBeUndefined();
    });
  });

  it.each(['above', 'below', 'on the class'])(
    'N4: @SpanGroup %s @OnEvent gives one span an event',
    async (place) => {
      const mark = (at: string): MethodDecorator & ClassDecorator =>
        at === place ? SpanGroup('orders') : () => undefined;
      @mark('on the class')
      @Injectable()
      class OrdersListener {
        @mark('above')
        @OnEvent('placed')
        @OnEvent('paid')
        @mark('below')
        handle(): void {}
      }
      const lens = await builderOf(OrdersListener).groups('orders').start();
      const emitter = lens.app.get(EventEmitter2);
      await emitter.emitAsync('placed');
      await emitter.emitAsync('paid');

      expect(namesOf(await lens.spans())).toEqual(['OrdersListener.handle', 'OrdersListener.handle']);
    },
  );

  it('N4: a request-scoped listener gives a span an event', async () => {
    @Injectable({ scope: Scope.REQUEST })
    class OrdersListener {
      @OnEvent('placed')
      @SpanGroup('orders')
      handle(): void {}
    }
    const lens = await builderOf(OrdersListener).groups('orders').start();
    await lens.app.get(EventEmitter2).emitAsync('placed', { id: 7 });

    expect(namesOf(await lens.spans())).toEqual(['OrdersListener.handle']);
  });
});
