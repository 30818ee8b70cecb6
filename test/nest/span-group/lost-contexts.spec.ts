import { expect, it } from 'vitest';
import {
  type CallHandler,
  Controller,
  type ExecutionContext,
  Get,
  type NestInterceptor,
  Param,
  type Type,
  UseInterceptors,
} from '@nestjs/common';
import { context, ROOT_CONTEXT } from '@opentelemetry/api';
import { managedSpan, SpanGroup, SpanGroupInterceptor } from 'nest-lens';
import { AsyncResource } from 'node:async_hooks';
import { defer, from, lastValueFrom, type Observable, retry, switchMap } from 'rxjs';
import { onEachPlatform } from '../../support/adapters.js';
import { lensApp, namesOf, parentIdOf } from '../../support/lens-app.js';
import { turn } from '../../support/result-kinds.js';

type Job<T> = () => Promise<T>;

/** Runs jobs one by one, each in the context in which the pool was made, as those of workers and connections do. */
class Pool {
  private readonly home = new AsyncResource('pool');
  private last: Promise<unknown> = Promise.resolve();

  run<T>(job: Job<T>): Promise<T> {
    const done = new Promise<T>((resolve, reject) => {
      const start = (): Promise<void> => this.home.runInAsyncScope(job).then(resolve, reject);
      this.last = this.last.then(start, start);
    });
    return done;
  }
}

/** An interceptor that calls the handler where nothing is known of the request. */
function calling(call: (next: CallHandler) => Observable<unknown>): Type<NestInterceptor> {
  return class implements NestInterceptor {
    intercept(_execution: ExecutionContext, next: CallHandler): Observable<unknown> {
      return call(next);
    }
  };
}

const FIRST_ONES_POOL = 'in a pool that the first request has made';
const ways: [string, () => Type<NestInterceptor>][] = [
  ['in the root context', () => calling((next) => context.with(ROOT_CONTEXT, () => next.handle()))],
  [
    'in the root context, when it is subscribed',
    () => calling((next) => defer(() => context.with(ROOT_CONTEXT, () => next.handle()))),
  ],
  [
    'in a pool',
    () => {
      const pool = new Pool();
      return calling((next) => from(pool.run(() => lastValueFrom(next.handle()))));
    },
  ],
  [
    FIRST_ONES_POOL,
    () => {
      let pool: Pool | undefined;
      return calling((next) => from((pool ??= new Pool()).run(() => lastValueFrom(next.handle()))));
    },
  ],
  [
    'in a callback that keeps the root context',
    () =>
      calling((next) =>
        from(new Promise((resolve) => context.with(ROOT_CONTEXT, () => setImmediate(resolve)))).pipe(
          switchMap(() => context.with(ROOT_CONTEXT, () => next.handle())),
        ),
      ),
  ],
];

onEachPlatform(
  'under SpanGroupInterceptor, an inner interceptor that calls the handler elsewhere',
  (platform) => {
    function controllerWith(...interceptors: Type<NestInterceptor>[]) {
      @Controller('orders')
      @UseInterceptors(SpanGroupInterceptor, ...interceptors)
      class OrdersController {
        @Get(':id')
        @SpanGroup('orders', { attributes: (id: string) => ({ 'order.id': id }) })
        async read(@Param('id') id: string): Promise<string> {
          managedSpan('orders', `work of ${id}`, () => undefined);
          await turn();
          return id;
        }
      }
      return OrdersController;
    }

    it.each(ways)('N5: %s: each of its requests has one span, and what belongs to it', async (title, way) => {
      const lens = await lensApp(platform).groups('orders').controllers(controllerWith(way())).start();
      for (const id of ['a', 'b']) expect((await lens.get(`/orders/${id}`)).text).toBe(id);
      const spans = await lens.spans();

      const handlers = spans.filter(({ name }) => name === 'OrdersController.read');
      // In the context of a request that is over, a call may also be a late one of that request.
      const isTold = title !== FIRST_ONES_POOL;
      expect(handlers.map(({ attributes }) => attributes['order.id'])).toEqual([
        'a',
        isTold ? 'b' : undefined,
      ]);
      expect(
        handlers.map((handler) =>
          namesOf(spans.filter((span) => parentIdOf(span) === handler.spanContext().spanId)),
        ),
      ).toEqual([['work of a'], isTold ? ['work of b'] : []]);
      expect(lens.inFlight()).toEqual([]);
    });

    it.each(ways)('N5: %s: requests at once have one span each', async (_title, way) => {
      const lens = await lensApp(platform).groups('orders').controllers(controllerWith(way())).start();
      const ids = ['a', 'b', 'c', 'd'];
      await Promise.all(ids.map((id) => lens.get(`/orders/${id}`)));
      const handlers = (await lens.spans()).filter(({ name }) => name === 'OrdersController.read');

      expect(handlers).toHaveLength(ids.length);
      // Nothing is said of one request on the span of another.
      const said = handlers.map(({ attributes }) => attributes['order.id']).filter((id) => id !== undefined);
      expect(new Set(said).size).toBe(said.length);
    });

    it('N5: and tries again there: the tries are below one span', async () => {
      let tries = 0;
      const Trying = calling((next) =>
        defer(() => context.with(ROOT_CONTEXT, () => next.handle())).pipe(retry(2)),
      );
      @Controller('orders')
      @UseInterceptors(SpanGroupInterceptor, Trying)
      class OrdersController {
        @Get()
        @SpanGroup('orders')
        async list(): Promise<string> {
          managedSpan('orders', `try ${++tries}`, () => undefined);
          await turn();
          if (tries < 3) throw new Error('not yet');
          return 'done';
        }
      }
      const lens = await lensApp(platform).groups('orders').controllers(OrdersController).start();
      expect((await lens.get('/orders')).text).toBe('done');
      expect(namesOf(await lens.spans()).sort()).toEqual([
        'OrdersController.list',
        'try 1',
        'try 2',
        'try 3',
      ]);
    });

    it('N5: where the interceptor is bound twice, around it, there is one span', async () => {
      const Elsewhere = calling((next) => context.with(ROOT_CONTEXT, () => next.handle()));
      const lens = await lensApp(platform)
        .groups('orders')
        .controllers(controllerWith(Elsewhere, SpanGroupInterceptor))
        .start();
      await lens.get('/orders/a');
      expect(namesOf(await lens.spans()).sort()).toEqual(['OrdersController.read', 'work of a']);
    });

    it('N5: a call of the method by traced work, while a request waits for its own, has a span', async () => {
      const found: { instance?: { read(id: string): Promise<string> } } = {};
      const Meanwhile = calling((next) =>
        from(
          context.with(ROOT_CONTEXT, () => managedSpan('orders', 'job', () => found.instance!.read('j'))),
        ).pipe(switchMap(() => next.handle())),
      );
      const OrdersController = controllerWith(Meanwhile);
      const lens = await lensApp(platform).groups('orders').controllers(OrdersController).start();
      found.instance = lens.app.get(OrdersController);
      await lens.get('/orders/a');
      const read = (await lens.spans()).filter(({ name }) => name === 'OrdersController.read');
      expect(read.map(({ attributes }) => attributes['order.id'])).toEqual(['j', 'a']);
    });
  },
);
