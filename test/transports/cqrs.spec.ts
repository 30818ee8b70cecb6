import { describe, expect, it } from 'vitest';
import { Controller, Get, Scope, type Type } from '@nestjs/common';
import {
  CommandBus,
  CommandHandler,
  CqrsModule,
  EventBus,
  EventsHandler,
  type ICommandHandler,
  type IEventHandler,
  type IQueryHandler,
  ofType,
  QueryBus,
  QueryHandler,
  Saga,
} from '@nestjs/cqrs';
import { managedSpan, SpanGroup } from 'nest-lens';
import type { Observable } from 'rxjs';
import { map } from 'rxjs/operators';
import { express } from '../support/adapters.js';
import {
  diagnostics,
  type LensApp,
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

class PlaceOrder {
  constructor(readonly id: number) {}
}
class ReadOrder {
  constructor(readonly id: number) {}
}
class OrderPlaced {
  constructor(readonly id: number) {}
}
class SendMail {
  constructor(readonly id: number) {}
}

/** Classes of handlers, each with one body for what it handles. */
const handlersOf = {
  command(kind: ResultKind, timeline: Timeline): Type<unknown> {
    @CommandHandler(PlaceOrder)
    class Handler implements ICommandHandler<PlaceOrder> {
      @SpanGroup('orders')
      execute(): any {
        timeline.note('called');
        return kind.handle(timeline);
      }
    }
    return Handler;
  },
  query(kind: ResultKind, timeline: Timeline): Type<unknown> {
    @SpanGroup('orders')
    @QueryHandler(ReadOrder)
    class Handler implements IQueryHandler<ReadOrder> {
      execute(): any {
        timeline.note('called');
        return kind.handle(timeline);
      }
    }
    return Handler;
  },
  event(kind: ResultKind, timeline: Timeline): Type<unknown> {
    @EventsHandler(OrderPlaced)
    @SpanGroup('orders')
    class Handler implements IEventHandler<OrderPlaced> {
      handle(): any {
        timeline.note('called');
        return kind.handle(timeline);
      }
    }
    return Handler;
  },
};

/** Gives a handler its work, and takes what it answers, errors included. */
const causes: Record<keyof typeof handlersOf, (lens: LensApp) => unknown> = {
  command: async ({ app }) => app.get(CommandBus).execute(new PlaceOrder(7)),
  query: async ({ app }) => app.get(QueryBus).execute(new ReadOrder(7)),
  event: ({ app }) => app.get(EventBus).publish(new OrderPlaced(7)),
};

describe('handlers of commands, queries and events', () => {
  guardTransportTests();

  const builderOf = (...handlers: Type<unknown>[]): LensAppBuilder =>
    lensApp(express)
      .imports(CqrsModule.forRoot())
      .providers(...handlers);
  const idOf = (spans: Parameters<typeof theSpan>[0], name: string): string =>
    theSpan(spans, name).spanContext().spanId;

  describe.each(['command', 'query', 'event'] as const)('of a %s', (type) => {
    it.each(jobKinds)('I9, I12: $result gives one span of its life', async (kind) => {
      const timeline = new Timeline();
      const builder = builderOf(handlersOf[type](kind, timeline)).groups('orders');
      builder.forRoot({ telemetry: { spanProcessors: [builder.tracker, timeline] } });
      const lens = await builder.start();
      await Promise.allSettled([causes[type](lens)]);
      await timeline.has('span ends');

      const method = type === 'event' ? 'handle' : 'execute';
      const span = await expectSpanLife(builder, timeline, {
        name: `Handler.${method}`,
        kind,
        binding: 'job',
      });
      expect(parentIdOf(span)).toBeUndefined();
      expect([lens.warnings, diagnostics()]).toEqual([[], []]);
    });

    it.each(jobKinds)('I1: off, $result gives no span', async (kind) => {
      const timeline = new Timeline();
      const builder = builderOf(handlersOf[type](kind, timeline)).groups('orders', 'payment');
      builder.spec('payment').forRoot({ telemetry: { spanProcessors: [builder.tracker, timeline] } });
      const lens = await builder.start();
      await Promise.allSettled([causes[type](lens)]);

      await timeline.has(kind.ends);
      expect(timeline.moments).not.toContain('span starts');
    });
  });

  it('N4, I9: executed and published inside a span, handlers are its children, each with its own work below it', async () => {
    @CommandHandler(PlaceOrder)
    class PlaceOrderHandler implements ICommandHandler<PlaceOrder> {
      constructor(private readonly events: EventBus) {}

      @SpanGroup('orders')
      async execute(command: PlaceOrder): Promise<void> {
        await managedSpan('orders', 'place inside', turn);
        this.events.publish(new OrderPlaced(command.id));
      }
    }
    @QueryHandler(ReadOrder)
    class ReadOrderHandler implements IQueryHandler<ReadOrder> {
      @SpanGroup('orders')
      async execute(query: ReadOrder): Promise<number> {
        return query.id;
      }
    }
    @EventsHandler(OrderPlaced)
    class OrderPlacedHandler implements IEventHandler<OrderPlaced> {
      @SpanGroup('orders')
      async handle(): Promise<void> {
        await turn();
        managedSpan('orders', 'handle inside', () => undefined);
      }
    }
    @Controller('orders')
    class OrdersController {
      constructor(
        private readonly commands: CommandBus,
        private readonly queries: QueryBus,
      ) {}

      @Get()
      @SpanGroup('orders')
      async place(): Promise<number> {
        await this.commands.execute(new PlaceOrder(7));
        return this.queries.execute(new ReadOrder(7));
      }
    }
    const lens = await builderOf(PlaceOrderHandler, ReadOrderHandler, OrderPlacedHandler)
      .controllers(OrdersController)
      .groups('orders')
      .start();

    expect((await lens.get('/orders')).text).toBe('7');
    expect(await until(() => lens.tracker.started === 6)).toBe(true);
    const spans = await lens.spans();
    expect(Object.fromEntries(spans.map((span) => [span.name, parentIdOf(span)]))).toEqual({
      'OrdersController.place': undefined,
      'PlaceOrderHandler.execute': idOf(spans, 'OrdersController.place'),
      'ReadOrderHandler.execute': idOf(spans, 'OrdersController.place'),
      'place inside': idOf(spans, 'PlaceOrderHandler.execute'),
      'OrderPlacedHandler.handle': idOf(spans, 'PlaceOrderHandler.execute'),
      'handle inside': idOf(spans, 'OrderPlacedHandler.handle'),
    });
  });

  it('N4: a request-scoped handler gives a span a command', async () => {
    @CommandHandler(PlaceOrder, { scope: Scope.REQUEST })
    class PlaceOrderHandler implements ICommandHandler<PlaceOrder> {
      @SpanGroup('orders')
      async execute(): Promise<void> {}
    }
    const lens = await builderOf(PlaceOrderHandler).groups('orders').start();
    await lens.app.get(CommandBus).execute(new PlaceOrder(1));
    await lens.app.get(CommandBus).execute(new PlaceOrder(2));

    expect(namesOf(await lens.spans())).toEqual(['PlaceOrderHandler.execute', 'PlaceOrderHandler.execute']);
  });

  describe.each(['plain', 'decorated'] as const)('a saga, %s', (binding) => {
    const mark: MethodDecorator =
      binding === 'plain'
        ? () => undefined
        : (target, key, descriptor) => SpanGroup('sagas')(target, key, descriptor);
    class OrderSagas {
      @Saga()
      @mark
      mailOrders(events$: Observable<object>): Observable<SendMail> {
        return events$.pipe(
          ofType(OrderPlaced),
          map(({ id }) => new SendMail(id)),
        );
      }
    }
    @CommandHandler(SendMail)
    class SendMailHandler implements ICommandHandler<SendMail> {
      @SpanGroup('orders')
      async execute(): Promise<void> {
        await turn();
      }
    }

    it('N4, I9: what it causes is below the span that published the event, and its own span ends with the application', async () => {
      const lens = await builderOf(OrderSagas, SendMailHandler).groups('orders', 'sagas').start();
      managedSpan('orders', 'first', () => void lens.app.get(EventBus).publish(new OrderPlaced(1)));
      managedSpan('orders', 'second', () => void lens.app.get(EventBus).publish(new OrderPlaced(2)));
      const openSagas = binding === 'plain' ? [] : ['OrderSagas.mailOrders'];
      expect(await until(() => lens.tracker.open.size === openSagas.length)).toBe(true);
      expect(lens.inFlight()).toEqual(openSagas);
      await lens.close();
      const { spans } = lens.exporter;

      const mails = spans.filter((span) => span.name === 'SendMailHandler.execute');
      expect(mails.map(parentIdOf)).toEqual([idOf(spans, 'first'), idOf(spans, 'second')]);
      if (binding === 'plain') return;
      const saga = theSpan(spans, 'OrderSagas.mailOrders');
      expect(parentIdOf(saga)).toBeUndefined();
      expect(saga.attributes['nestlens.cancelled']).toBe(true);
    });
  });
});
