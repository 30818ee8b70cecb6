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
import { managedSpan, SpanGroup, SpanGroupInterceptor } from 'nest-lens';
import { AsyncResource } from 'node:async_hooks';
import { from, lastValueFrom, Observable, of, retry, switchMap } from 'rxjs';
import { onEachPlatform } from '../../support/adapters.js';
import { lensApp, namesOf, parentIdOf } from '../../support/lens-app.js';
import { turn } from '../../support/result-kinds.js';

type Job = () => Promise<unknown>;
type Schedule = (job: Job) => void;
const REQUESTS = ['a', 'b', 'c'];

/** Starts the jobs of three requests together, in the async context of the third. */
function batch(): Schedule {
  const jobs: Job[] = [];
  return (job) => {
    jobs.unshift(job);
    if (jobs.length === REQUESTS.length) for (const each of jobs) void each();
  };
}

/** Lets one job run at a time; each is started in the async context of the one before. */
function oneByOne(): Schedule {
  const waiting: Job[] = [];
  let isBusy = false;
  const start = (job: Job): void => {
    isBusy = true;
    void job().finally(() => {
      isBusy = false;
      const next = waiting.shift();
      if (next !== undefined) start(next);
    });
  };
  return (job) => void (isBusy ? waiting.push(job) : start(job));
}

/** An interceptor that leaves it to a schedule when the handler is called. */
function inner(schedule: Schedule, wrap = (job: Job): Job => job): Type<NestInterceptor> {
  return class implements NestInterceptor {
    intercept(_execution: ExecutionContext, next: CallHandler): Observable<unknown> {
      return new Observable((subscriber) => {
        const job = (): Promise<void> =>
          lastValueFrom(next.handle()).then(
            (value) => {
              subscriber.next(value);
              subscriber.complete();
            },
            (error: unknown) => subscriber.error(error),
          );
        schedule(wrap(job));
      });
    }
  };
}

onEachPlatform(
  'under SpanGroupInterceptor, an inner interceptor that runs other requests too',
  (platform) => {
    async function threeRequests(...interceptors: Type<NestInterceptor>[]) {
      let come = 0;
      let allCame = (): void => undefined;
      const all = new Promise<void>((resolve) => (allCame = resolve));
      class Counting implements NestInterceptor {
        intercept(_execution: ExecutionContext, next: CallHandler): Observable<unknown> {
          if (++come === REQUESTS.length) allCame();
          return next.handle();
        }
      }
      @Controller('orders')
      @UseInterceptors(SpanGroupInterceptor, Counting, ...interceptors)
      class OrdersController {
        @Get(':id')
        @SpanGroup('orders', { attributes: (id: string) => ({ [`id.${id}`]: id }) })
        async read(@Param('id') id: string): Promise<string> {
          managedSpan('orders', `work of ${id}`, () => undefined);
          // With a schedule, the first call holds the others up until all requests have come.
          if (interceptors.length > 0) await all;
          await turn();
          return id;
        }
      }
      const lens = await lensApp(platform).groups('orders').controllers(OrdersController).start();
      const replies = await Promise.all(REQUESTS.map((id) => lens.get(`/orders/${id}`)));
      expect(replies.map(({ text }) => text)).toEqual(REQUESTS);
      const spans = await lens.spans();
      expect(lens.inFlight()).toEqual([]);

      const handlers = spans.filter(({ name }) => name === 'OrdersController.read');
      const ids = handlers.map(({ attributes }) =>
        Object.keys(attributes)
          .filter((key) => key.startsWith('id.'))
          .map((key) => key.slice('id.'.length)),
      );
      const children = handlers.map((handler) =>
        namesOf(spans.filter((span) => parentIdOf(span) === handler.spanContext().spanId)),
      );
      return { ids, children };
    }

    it.each<[string, () => Schedule]>([
      ['together', batch],
      ['one after another', oneByOne],
    ])(
      'N5: %s: each request has one span, and none has what belongs to another',
      async (_title, schedule) => {
        const { ids, children } = await threeRequests(inner(schedule()));

        expect(ids).toHaveLength(3);
        // One has what is its own; of the others nobody knows whose it is.
        expect(ids.map(({ length }) => length).sort()).toEqual([0, 0, 1]);
        expect(children).toEqual(ids.map((own) => own.map((id) => `work of ${id}`)));
      },
    );

    it.each<[string, () => Schedule]>([
      ['together', batch],
      ['one after another', oneByOne],
    ])('N5: %s, bound to the context of each: each span has what is its own', async (_title, schedule) => {
      const { ids, children } = await threeRequests(inner(schedule(), (job) => AsyncResource.bind(job)));

      expect(ids.flat().sort()).toEqual(REQUESTS);
      expect(children).toEqual(ids.map((own) => own.map((id) => `work of ${id}`)));
    });

    it('N5: that tries again while another request waits for its call: the tries are below one span', async () => {
      let waits = (): void => undefined;
      const otherWaits = new Promise<void>((resolve) => (waits = resolve));
      let goOn = (): void => undefined;
      const firstIsDone = new Promise<void>((resolve) => (goOn = resolve));
      class Trying implements NestInterceptor {
        intercept(execution: ExecutionContext, next: CallHandler): Observable<unknown> {
          const { id } = execution.switchToHttp().getRequest<{ params: { id: string } }>().params;
          if (id === 'a') return next.handle().pipe(retry(1));
          waits();
          return from(firstIsDone).pipe(switchMap(() => next.handle()));
        }
      }
      let tries = 0;
      @Controller('orders')
      @UseInterceptors(SpanGroupInterceptor, Trying)
      class OrdersController {
        @Get(':id')
        @SpanGroup('orders')
        async read(@Param('id') id: string): Promise<string> {
          tries += 1;
          managedSpan('orders', `try ${tries}`, () => undefined);
          await otherWaits;
          if (tries === 1) throw new Error('failure');
          return id;
        }
      }
      const lens = await lensApp(platform).groups('orders').controllers(OrdersController).start();
      const first = lens.get('/orders/a').finally(goOn);
      const replies = await Promise.all([first, lens.get('/orders/b')]);
      expect(replies.map(({ text }) => text)).toEqual(['a', 'b']);

      const spans = await lens.spans();
      const children = spans
        .filter(({ name }) => name === 'OrdersController.read')
        .map((handler) => namesOf(spans.filter((span) => parentIdOf(span) === handler.spanContext().spanId)));
      expect(children).toEqual([['try 1', 'try 2'], ['try 3']]);
    });

    it('N5: a call that comes when its span has ended has a span of its own', async () => {
      let called = (): void => undefined;
      const isCalled = new Promise<void>((resolve) => (called = resolve));
      class AnswersFirst implements NestInterceptor {
        intercept(_execution: ExecutionContext, next: CallHandler): Observable<unknown> {
          setImmediate(() => next.handle().subscribe({ complete: called }));
          return of('kept');
        }
      }
      @Controller('orders')
      @UseInterceptors(SpanGroupInterceptor, AnswersFirst)
      class OrdersController {
        @Get()
        @SpanGroup('orders', { attributes: () => ({ called: true }) })
        async list(): Promise<string> {
          await turn();
          return 'fresh';
        }
      }
      const lens = await lensApp(platform).groups('orders').controllers(OrdersController).start();
      expect((await lens.get('/orders')).text).toBe('kept');
      await isCalled;

      const spans = await lens.spans();
      expect(spans.map(({ name }) => name)).toEqual(['OrdersController.list', 'OrdersController.list']);
      expect(spans.map(({ attributes }) => attributes['called'])).toEqual([undefined, true]);
    });
  },
);
