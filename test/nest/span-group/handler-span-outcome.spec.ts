import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Controller, Get, type Type, UseFilters } from '@nestjs/common';
import type { ArgumentsHost, ExceptionFilter } from '@nestjs/common';
import { SpanStatusCode } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { onEachPlatform } from '../../support/adapters.js';
import type { HttpPlatform } from '../../support/adapters.js';
import { HANDLER_ERRORS } from '../../support/handler-errors.js';
import { HANDLER_RESPONSES } from '../../support/handler-responses.js';
import { HANDLER_RESULTS, type HandlerKind, LazyThenable, returning } from '../../support/handler-results.js';
import { type Binding, inOrders } from '../../support/in-orders.js';
import { lensApp, theSpan } from '../../support/lens-app.js';
import type { HttpReply, LensAppBuilder } from '../../support/lens-app.js';

// A test asks for every kind, one after the other.
vi.setConfig({ testTimeout: 30_000 });

const { ERROR } = SpanStatusCode;
const KINDS = [...HANDLER_RESULTS, ...HANDLER_RESPONSES, ...HANDLER_ERRORS];

/** What the client sees, without what differs from answer to answer anyway. */
function seenByClient({ status, headers, text, broken }: HttpReply): object {
  const { date, 'keep-alive': _keepAlive, ...rest } = headers;
  return { status, headers: rest, text, broken, dated: date !== undefined };
}

const exceptionEvents = (span: ReadableSpan): unknown[] =>
  span.events
    .filter((event) => event.name === 'exception')
    .map((event) => event.attributes?.['exception.message']);

/** A controller for each kind, at a path of its own: one application answers for all of them. */
function controllersOf(binding: Binding): Type<unknown>[] {
  return KINDS.map((kind, index) => {
    const KindController = kind.controller(inOrders(binding));
    Controller(`kinds/${index}`)(KindController);
    return KindController;
  });
}

const pathOf = (kind: HandlerKind): string => `/kinds/${KINDS.indexOf(kind)}`;

onEachPlatform('the outcome of a handler', (platform: HttpPlatform) => {
  const plainAnswers = new Map<string, object>();

  beforeAll(async () => {
    const lens = await lensApp(platform)
      .controllers(...controllersOf('plain'))
      .start();
    for (const kind of KINDS) plainAnswers.set(kind.title, seenByClient(await lens.get(pathOf(kind))));
    await lens.close();
  });

  afterAll(() => plainAnswers.clear());

  describe.each(['decorated', 'intercepted'] as const)('%s', (binding) => {
    const appOf = (spec: string): LensAppBuilder => lensApp(platform).groups('orders', 'payment').spec(spec);

    it(`I9, I12: each of ${KINDS.length} kinds gives one ended span, with its outcome, and the same answer`, async () => {
      const lens = await appOf('orders')
        .controllers(...controllersOf(binding))
        .start();
      for (const kind of KINDS) {
        const { length } = await lens.spans();
        const answer = seenByClient(await lens.get(pathOf(kind)));
        const spans = (await lens.spans()).slice(length);
        expect({ kind: kind.title, answer }).toEqual({
          kind: kind.title,
          answer: plainAnswers.get(kind.title),
        });
        expect([kind.title, lens.inFlight()]).toEqual([kind.title, []]);
        expect([kind.title, spans.map(({ name }) => name)]).toEqual([
          kind.title,
          ['OrdersController.handle'],
        ]);
        const span = spans[0]!;
        const { status, message } = kind.outcome;
        expect([kind.title, SpanStatusCode[span.status.code]]).toEqual([kind.title, SpanStatusCode[status]]);
        if (message !== undefined) {
          expect([kind.title, span.status.message]).toEqual([kind.title, message]);
          expect([kind.title, exceptionEvents(span)]).toEqual([kind.title, [message]]);
        }
        expect(exceptionEvents(span).length).toBeLessThanOrEqual(1);
        expect(span.attributes).not.toHaveProperty(['nestlens.cancelled']);
      }
    });

    it('I1, I11: off, each of them gives no span and the same answer', async () => {
      const lens = await appOf('payment')
        .controllers(...controllersOf(binding))
        .start();
      for (const kind of KINDS) {
        const answer = seenByClient(await lens.get(pathOf(kind)));
        expect({ kind: kind.title, answer }).toEqual({
          kind: kind.title,
          answer: plainAnswers.get(kind.title),
        });
      }
      expect(lens.tracker.started).toBe(0);
      expect(await lens.spans()).toEqual([]);
    });

    it('I10: the span names its group, controller, callback and function', async () => {
      const lens = await appOf('orders')
        .controllers(KINDS[0]!.controller(inOrders(binding)))
        .start();
      await lens.get('/orders');

      const span = theSpan(await lens.spans(), 'OrdersController.handle');
      expect(span.attributes).toMatchObject({
        'nestlens.group': 'orders',
        'nestjs.controller': 'OrdersController',
        'nestjs.callback': 'handle',
        'nestjs.type': expect.any(String),
        'code.function.name': expect.stringContaining('handle'),
      });
    });

    it('I9: a lazy thenable is asked as often as without NestLens', async () => {
      const queries: LazyThenable[] = [];
      const controllerOf = returning(() => {
        const query = new LazyThenable((resolve) => resolve('rows'));
        queries.push(query);
        return query;
      });
      const plain = await lensApp(platform)
        .controllers(controllerOf(inOrders('plain')))
        .start();
      await plain.get('/orders');
      await plain.close();
      const lens = await appOf('orders')
        .controllers(controllerOf(inOrders(binding)))
        .start();
      await lens.get('/orders');

      expect(queries.map((query) => query.calls)).toEqual([1, 1]);
    });

    it('I12: a domain error that a filter answers with 404 is an error to the span, and the answer is the filter’s', async () => {
      class OutOfStock extends Error {}
      class AnswerNotFound implements ExceptionFilter {
        catch(_error: unknown, host: ArgumentsHost): void {
          host.switchToHttp().getResponse().status(404).send({ sold: 'out' });
        }
      }
      @Controller('orders')
      @UseFilters(AnswerNotFound)
      class OrdersController {
        @Get()
        @inOrders(binding)
        handle(): never {
          throw new OutOfStock('none left');
        }
      }
      const lens = await lensApp(platform).groups('orders').controllers(OrdersController).start();
      const reply = await lens.get('/orders');
      const span = theSpan(await lens.spans(), 'OrdersController.handle');

      expect(reply.status).toBe(404);
      expect(reply.json()).toEqual({ sold: 'out' });
      expect(span.status).toMatchObject({ code: ERROR, message: 'none left' });
    });

    it('I2: the filter gets the very value that the handler threw', async () => {
      const thrown = Object.freeze(new Error('frozen'));
      const caught: unknown[] = [];
      class Catching implements ExceptionFilter {
        catch(error: unknown, host: ArgumentsHost): void {
          caught.push(error);
          host.switchToHttp().getResponse().status(500).send({});
        }
      }
      @Controller('orders')
      @UseFilters(Catching)
      class OrdersController {
        @Get()
        @inOrders(binding)
        handle(): never {
          throw thrown;
        }
      }
      const lens = await lensApp(platform).groups('orders').controllers(OrdersController).start();
      await lens.get('/orders');

      expect(caught).toHaveLength(1);
      expect(caught[0]).toBe(thrown);
    });
  });
});
