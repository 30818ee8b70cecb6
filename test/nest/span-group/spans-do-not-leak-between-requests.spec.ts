import { describe, expect, it } from 'vitest';
import {
  Catch,
  Controller,
  Get,
  Inject,
  Injectable,
  Param,
  Scope,
  UseFilters,
  UseInterceptors,
} from '@nestjs/common';
import type {
  ArgumentsHost,
  CallHandler,
  ExceptionFilter,
  ExecutionContext,
  NestInterceptor,
  OnModuleDestroy,
  OnModuleInit,
} from '@nestjs/common';
import { trace } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { managedSpan, SpanGroup, SpanGroupInterceptor } from 'nest-lens';
import { defer, throwError } from 'rxjs';
import type { Observable } from 'rxjs';
import { catchError, finalize, retry, tap } from 'rxjs/operators';
import { onEachPlatform } from '../../support/adapters.js';
import { lensApp, parentIdOf, theSpan, until } from '../../support/lens-app.js';

const IN_PARALLEL = 50;

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Opens when all have come: so that all requests really are under way at once. */
class Barrier {
  #waiting = 0;
  #open: () => void = () => undefined;
  readonly #opened = new Promise<void>((resolve) => (this.#open = resolve));

  constructor(private readonly size: number) {}

  async pass(): Promise<void> {
    this.#waiting += 1;
    if (this.#waiting === this.size) this.#open();
    await this.#opened;
  }
}

const activeSpanId = (): string | undefined => trace.getActiveSpan()?.spanContext().spanId;

onEachPlatform('spans and requests', (platform) => {
  describe.each([
    ['the decorator alone', Scope.DEFAULT, []],
    ['the interceptor', Scope.DEFAULT, [SpanGroupInterceptor]],
    ['the interceptor and a request-scoped controller', Scope.REQUEST, [SpanGroupInterceptor]],
  ] as const)('with %s', (_title, scope, interceptors) => {
    it(`I9, I11: ${IN_PARALLEL} requests at once keep their own spans, each with its own child`, async () => {
      const barrier = new Barrier(IN_PARALLEL);
      @Injectable()
      class OrdersService {
        @SpanGroup('orders', { attributes: (...args) => ({ 'order.id': String(args[0]) }) })
        async load(id: string): Promise<string> {
          for (let turn = 0; turn < Number(id) % 7; turn += 1) await nextTurn();
          return id;
        }
      }
      @Controller({ path: 'orders', scope })
      @UseInterceptors(...interceptors)
      class OrdersController {
        constructor(@Inject(OrdersService) private readonly orders: OrdersService) {}

        @Get(':id')
        @SpanGroup('orders', { attributes: (...args) => ({ 'order.id': String(args[0]) }) })
        async one(@Param('id') id: string): Promise<string> {
          await barrier.pass();
          for (let turn = 0; turn < Number(id) % 5; turn += 1) await nextTurn();
          return this.orders.load(id);
        }
      }
      const lens = await lensApp(platform)
        .groups('orders')
        .providers(OrdersService)
        .controllers(OrdersController)
        .start();
      const ids = Array.from({ length: IN_PARALLEL }, (_, index) => String(index));
      const replies = await Promise.all(ids.map((id) => lens.get(`/orders/${id}`)));
      const spans = await lens.spans();

      expect(replies.map((reply) => reply.text)).toEqual(ids);
      expect(spans).toHaveLength(2 * IN_PARALLEL);
      expect(lens.inFlight()).toEqual([]);
      const handlers = spans.filter((span) => span.name === 'OrdersController.one');
      const children = new Map(
        spans.filter((span) => span.name === 'OrdersService.load').map((span) => [parentIdOf(span), span]),
      );
      expect(handlers).toHaveLength(IN_PARALLEL);
      for (const handler of handlers) {
        expect(parentIdOf(handler)).toBeUndefined();
        expect(children.get(handler.spanContext().spanId)?.spanContext().traceId).toBe(
          handler.spanContext().traceId,
        );
        // A pipe or an interceptor may have no arguments to show at the time; a value of another request is never right.
        const own = handler.attributes['order.id'];
        const childs = children.get(handler.spanContext().spanId)?.attributes['order.id'];
        expect(own ?? childs).toBe(childs);
      }
      expect(new Set([...children.values()].map((span) => span.attributes['order.id'])).size).toBe(
        IN_PARALLEL,
      );
    });

    it('I9: the active span of an exception filter is the request’s, not the ended handler’s', async () => {
      const seen: { active?: string; request?: string; handler?: string } = {};
      @Catch()
      class MarkingFilter implements ExceptionFilter {
        catch(_error: unknown, host: ArgumentsHost): void {
          seen.active = activeSpanId() ?? 'none';
          trace.getTracer('test').startSpan('filter').end();
          host.switchToHttp().getResponse().status(500).send({});
        }
      }
      @Controller({ path: 'orders', scope })
      @UseInterceptors(...interceptors)
      @UseFilters(MarkingFilter)
      class OrdersController {
        @Get('sync')
        @SpanGroup('orders')
        sync(): never {
          throw new Error('down');
        }

        @Get('async')
        @SpanGroup('orders')
        async async(): Promise<never> {
          await nextTurn();
          throw new Error('down');
        }

        @Get('stream')
        @SpanGroup('orders')
        stream(): Observable<never> {
          return throwError(() => new Error('down'));
        }
      }
      const lens = await lensApp(platform)
        .groups('orders')
        .controllers(OrdersController)
        .configure((app) => {
          app.use(
            (
              _request: unknown,
              response: { once(event: string, done: () => void): void },
              next: () => void,
            ) => {
              trace.getTracer('test').startActiveSpan('request', (span) => {
                seen.request = span.spanContext().spanId;
                response.once('finish', () => span.end());
                next();
              });
            },
          );
        })
        .start();

      for (const path of ['sync', 'async', 'stream']) {
        lens.exporter.spans.length = 0;
        expect((await lens.get(`/orders/${path}`)).status).toBe(500);
        const spans = await lens.spans();
        const request = theSpan(spans, 'request').spanContext().spanId;

        expect(seen.active).toBe(request);
        expect(parentIdOf(theSpan(spans, 'filter'))).toBe(request);
        expect(parentIdOf(theSpan(spans, `OrdersController.${path}`))).toBe(request);
      }
    });

    it('I9: outer interceptors and their operators never run under the span of the handler', async () => {
      const seen: Record<string, string | undefined> = {};
      const note = (place: string) => (): void => {
        seen[place] = activeSpanId();
      };
      @Injectable()
      class Outer implements NestInterceptor {
        intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
          note('before')();
          return next.handle().pipe(
            tap({ next: note('value'), complete: note('complete') }),
            catchError((error: unknown) => {
              note('error')();
              return throwError(() => error);
            }),
            finalize(note('finally')),
          );
        }
      }
      @Controller({ path: 'orders', scope })
      @UseInterceptors(Outer, ...interceptors)
      class OrdersController {
        @Get('value')
        @SpanGroup('orders')
        async value(): Promise<string> {
          await nextTurn();
          return 'value';
        }

        @Get('stream')
        @SpanGroup('orders')
        stream(): Observable<string> {
          return defer(async () => {
            await nextTurn();
            return 'stream';
          });
        }

        @Get('error')
        @SpanGroup('orders')
        error(): Observable<string> {
          return defer(async () => {
            await nextTurn();
            throw new Error('down');
          });
        }
      }
      const lens = await lensApp(platform).groups('orders').controllers(OrdersController).start();
      for (const path of ['value', 'stream', 'error']) await lens.get(`/orders/${path}`);

      expect(await lens.spans()).toHaveLength(3);
      expect(seen).toEqual({
        before: undefined,
        value: undefined,
        complete: undefined,
        error: undefined,
        finally: undefined,
      });
    });

    it('I9: each attempt of an outer retry is a span of its own, and none is the parent of the next', async () => {
      let attempts = 0;
      @Injectable()
      class Retrying implements NestInterceptor {
        intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
          return next.handle().pipe(retry(2));
        }
      }
      @Controller({ path: 'orders', scope })
      @UseInterceptors(Retrying, ...interceptors)
      class OrdersController {
        @Get()
        @SpanGroup('orders')
        list(): string {
          attempts += 1;
          if (attempts < 3) throw new Error('not yet');
          return 'third time';
        }
      }
      const lens = await lensApp(platform).groups('orders').controllers(OrdersController).start();

      expect((await lens.get('/orders')).text).toBe('third time');
      const spans = await lens.spans();
      expect(spans.map((span) => span.name)).toEqual(
        Array.from({ length: 3 }, () => 'OrdersController.list'),
      );
      expect(spans.map(parentIdOf)).toEqual([undefined, undefined, undefined]);
    });
  });

  it('I9: work of timers that providers start while they are made, or initialised, is at the root', async () => {
    @Injectable()
    class Ticking implements OnModuleInit, OnModuleDestroy {
      readonly #timers = [setInterval(() => this.#tick('tick of constructor'), 2)];

      #tick(name: string): void {
        managedSpan('orders', name, () => undefined);
      }

      onModuleInit(): void {
        this.#timers.push(setInterval(() => this.#tick('tick of onModuleInit'), 2));
      }

      onModuleDestroy(): void {
        this.#timers.forEach(clearInterval);
      }
    }
    @Controller('orders')
    @UseInterceptors(SpanGroupInterceptor)
    class OrdersController {
      @Get()
      @SpanGroup('orders')
      async list(): Promise<string> {
        await nextTurn();
        return 'list';
      }
    }
    const lens = await lensApp(platform)
      .groups('orders')
      .providers(Ticking)
      .controllers(OrdersController)
      .start();
    const ticks = (name: string): ReadableSpan[] => lens.exporter.spans.filter((span) => span.name === name);
    await lens.get('/orders');
    for (const name of ['tick of constructor', 'tick of onModuleInit']) {
      const enough = await until(() => {
        void lens.spans();
        return ticks(name).length >= 3;
      });
      expect(enough).toBe(true);
    }
    await lens.get('/orders');
    await lens.close();

    const traces = lens.exporter.spans.map((span) => span.spanContext().traceId);
    expect(lens.exporter.spans.map(parentIdOf).filter((id) => id !== undefined)).toEqual([]);
    expect(new Set(traces).size).toBe(traces.length);
  });

  it('I9: after a request, nothing is active', async () => {
    @Controller('orders')
    class OrdersController {
      @Get()
      @SpanGroup('orders')
      @UseInterceptors(SpanGroupInterceptor)
      list(): string {
        return 'list';
      }

      @Get('active')
      active(): { active: string | null } {
        return { active: activeSpanId() ?? null };
      }
    }
    const lens = await lensApp(platform).groups('orders').controllers(OrdersController).start();
    await lens.get('/orders');

    expect((await lens.get('/orders/active')).json()).toEqual({ active: null });
  });
});
