import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { Controller, Get, RequestTimeoutException, StreamableFile, UseInterceptors } from '@nestjs/common';
import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import { SpanStatusCode, trace } from '@opentelemetry/api';
import { concat, from, merge, NEVER, Observable, of, throwError, timer } from 'rxjs';
import { timeout } from 'rxjs/operators';
import { onEachPlatform } from '../../support/adapters.js';
import type { HttpPlatform } from '../../support/adapters.js';
import { type HandlerKind, later, returning, streaming } from '../../support/handler-results.js';
import { inOrders } from '../../support/in-orders.js';
import { endedAt, everythingSaid, lensApp, theSpan, until } from '../../support/lens-app.js';
import type { LensApp } from '../../support/lens-app.js';

const { UNSET } = SpanStatusCode;

onEachPlatform('the end of the span of a handler', (platform: HttpPlatform) => {
  describe.each(['decorated', 'intercepted'] as const)('%s', (binding) => {
    const appOf = (controller: HandlerKind['controller']): Promise<LensApp> =>
      lensApp(platform)
        .groups('orders')
        .controllers(controller(inOrders(binding)))
        .start();

    it('I9: the span of a StreamableFile ends when the handler has returned, not with the body', async () => {
      let release = (): void => undefined;
      const released = new Promise<void>((resolve) => (release = resolve));
      const file = returning(
        () =>
          new StreamableFile(
            Readable.from(
              (async function* () {
                yield Buffer.from('first ');
                await released;
                yield Buffer.from('second');
              })(),
            ),
          ),
      );
      const lens = await appOf(file);
      const reply = lens.get('/orders');

      expect(await until(() => lens.tracker.started === 1 && lens.tracker.open.size === 0)).toBe(true);
      release();
      expect((await reply).text).toBe('first second');
      expect(await lens.spans()).toHaveLength(1);
    });

    it('I9: the span covers an observable until it completes', async () => {
      let release = (): void => undefined;
      const released = new Promise<number>((resolve) => (release = () => resolve(2)));
      const slow = returning(() => concat(of(1), from(released)));
      const lens = await appOf(slow);
      const reply = lens.get('/orders');

      expect(await until(() => lens.tracker.open.size === 1)).toBe(true);
      await later(1);
      expect(lens.inFlight()).toEqual(['OrdersController.handle']);
      release();
      expect((await reply).text).toBe('2');
      expect(await lens.spans()).toHaveLength(1);
    });

    it.each([
      ['an SSE stream', streaming(() => concat(of({ data: 'hello' }), NEVER)), true],
      ['an observable that never completes', returning(() => NEVER), false],
      [
        'an async generator that never ends',
        returning(async function* () {
          for (;;) {
            yield 'x'.repeat(1_000);
            await new Promise((resolve) => setTimeout(resolve, 5));
          }
        }),
        true,
      ],
    ] as [string, HandlerKind['controller'], boolean][])(
      'I9: a client that leaves %s ends the span within 100 ms, cancelled and not an error',
      async (_title, controller, answers) => {
        const lens = await appOf(controller);
        const client = lens.open('/orders');
        if (answers) await client.firstChunk;
        expect(await until(() => lens.tracker.open.size === 1)).toBe(true);
        const leftAt = await client.disconnect();
        const span = theSpan(await lens.spans(), 'OrdersController.handle');

        expect(lens.inFlight()).toEqual([]);
        expect(endedAt(span) - leftAt).toBeLessThan(100);
        expect(span.attributes['nestlens.cancelled']).toBe(true);
        expect(span.status.code).toBe(UNSET);
        expect(span.events).toEqual([]);
      },
    );

    it('I9: a timeout in an outer interceptor ends the span of the observable that it gave up', async () => {
      class Timeout implements NestInterceptor {
        intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
          return next
            .handle()
            .pipe(timeout({ first: 30, with: () => throwError(() => new RequestTimeoutException()) }));
        }
      }
      @Controller('orders')
      @UseInterceptors(Timeout)
      class OrdersController {
        @Get()
        @inOrders(binding)
        handle(): Observable<unknown> {
          return timer(5_000);
        }
      }
      const lens = await lensApp(platform).groups('orders').controllers(OrdersController).start();
      const reply = await lens.get('/orders');
      const repliedAt = Date.now();
      const span = theSpan(await lens.spans(), 'OrdersController.handle');

      expect(reply.status).toBe(408);
      expect(lens.inFlight()).toEqual([]);
      expect(endedAt(span)).toBeLessThanOrEqual(repliedAt + 1);
      expect(span.attributes['nestlens.cancelled']).toBe(true);
      expect(span.status.code).toBe(UNSET);
    });

    it('I9: a handler that outlives the timeout in an outer interceptor ends its span once', async () => {
      let finish = (): void => undefined;
      const finished = new Promise<void>((resolve) => (finish = resolve));
      class Timeout implements NestInterceptor {
        intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
          return next
            .handle()
            .pipe(timeout({ first: 30, with: () => throwError(() => new RequestTimeoutException()) }));
        }
      }
      @Controller('orders')
      @UseInterceptors(Timeout)
      class OrdersController {
        @Get()
        @inOrders(binding)
        async handle(): Promise<string> {
          await finished;
          trace.getTracer('app').startSpan('late work').end();
          return 'too late';
        }
      }
      const lens = await lensApp(platform).groups('orders').controllers(OrdersController).start();
      const reply = await lens.get('/orders');
      // The interceptor sees that it was given up; the promise of a wrapped method goes on.
      if (binding === 'intercepted') expect(await until(() => lens.tracker.open.size === 0)).toBe(true);
      finish();
      expect(await until(() => lens.tracker.started === 2 && lens.tracker.open.size === 0)).toBe(true);
      const spans = await lens.spans();

      expect(reply.status).toBe(408);
      theSpan(spans, 'OrdersController.handle');
      expect(spans).toHaveLength(2);
      expect(everythingSaid()).toEqual([]);
    });

    it('I9: an interceptor that merges an error of its own leaves no span open and no unhandled rejection', async () => {
      class Merging implements NestInterceptor {
        intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
          return merge(
            next.handle(),
            throwError(() => new Error('side stream')),
          );
        }
      }
      @Controller('orders')
      class OrdersController {
        @Get()
        @UseInterceptors(Merging)
        @inOrders(binding)
        handle(): Observable<number> {
          return timer(1_000);
        }
      }
      const lens = await lensApp(platform).groups('orders').controllers(OrdersController).start();
      const reply = await lens.get('/orders');
      await lens.spans();

      expect(reply.status).toBe(500);
      expect(lens.inFlight()).toEqual([]);
    });

    it('H9: a request that is never answered does not hold the close up', async () => {
      const hanging = returning(() => new Promise(() => undefined));
      const lens = await appOf(hanging);
      const client = lens.open('/orders');
      expect(await until(() => lens.tracker.open.size === 1)).toBe(true);
      await client.disconnect();
      const from = Date.now();
      await lens.close();

      expect(Date.now() - from).toBeLessThan(1_500);
      expect(everythingSaid()).toEqual([]);
    });
  });
});
