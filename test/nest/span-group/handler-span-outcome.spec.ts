import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  ConflictException,
  Controller,
  ForbiddenException,
  Get,
  Header,
  HttpCode,
  HttpException,
  NotFoundException,
  Param,
  ParseUUIDPipe,
  Redirect,
  RequestTimeoutException,
  Res,
  ServiceUnavailableException,
  Sse,
  StreamableFile,
  UseFilters,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import type {
  ArgumentsHost,
  CallHandler,
  CanActivate,
  ExceptionFilter,
  ExecutionContext,
  NestInterceptor,
  Type,
} from '@nestjs/common';
import { SpanStatusCode, trace } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { SpanGroup, SpanGroupInterceptor } from 'nest-lens';
import { concat, EMPTY, from, interval, merge, NEVER, Observable, of, throwError, timer } from 'rxjs';
import { delay, map, take, timeout } from 'rxjs/operators';
import { onEachPlatform } from '../../support/adapters.js';
import type { HttpPlatform } from '../../support/adapters.js';
import { endedAt, everythingSaid, lensApp, theSpan, until } from '../../support/lens-app.js';
import type { HttpReply, LensApp } from '../../support/lens-app.js';

const { UNSET, ERROR } = SpanStatusCode;

type Binding = 'plain' | 'decorated' | 'intercepted';

/** Puts a handler into the group `orders`, by the decorator alone or with the interceptor too; or leaves it plain. */
function inOrders(binding: Binding): MethodDecorator {
  return (target, key, descriptor) => {
    let result = descriptor;
    if (binding !== 'plain') result = (SpanGroup('orders')(target, key, result) as typeof result) ?? result;
    if (binding === 'intercepted') UseInterceptors(SpanGroupInterceptor)(target, key, result);
    return result;
  };
}

interface Outcome {
  status: SpanStatusCode;
  /** Of the recorded exception and of the status; absent: no exception event may be there with an unset status. */
  message?: string;
}

interface Kind {
  title: string;
  controller(mark: MethodDecorator): Type<unknown>;
  outcome: Outcome;
}

const succeeds: Outcome = { status: UNSET };
const refused: Outcome = { status: UNSET };
const fails = (message: string): Outcome => ({ status: ERROR, message });

/** A handler without parameters, for the kinds that only differ in what they return or throw. */
function returning(result: () => unknown): Kind['controller'] {
  return (mark) => {
    @Controller('orders')
    class OrdersController {
      @Get()
      @mark
      handle(): unknown {
        return result();
      }
    }
    return OrdersController;
  };
}

function streaming(result: () => unknown): Kind['controller'] {
  return (mark) => {
    @Controller('orders')
    class OrdersController {
      @Sse()
      @mark
      handle(): any {
        return result();
      }
    }
    return OrdersController;
  };
}

const boom = (message: string): never => {
  throw new Error(message);
};

const later = <T>(value: T): Promise<T> => new Promise((resolve) => setImmediate(resolve, value));

class LazyThenable {
  calls = 0;

  constructor(
    private readonly settle: (resolve: (value: unknown) => void, reject: (reason: unknown) => void) => void,
  ) {}

  then(resolve: (value: unknown) => void, reject: (reason: unknown) => void): void {
    this.calls += 1;
    this.settle(resolve, reject);
  }
}

/** Same name, same methods, same fields: but Nest doesn't know it and answers 500. */
class LookalikeException extends Error {
  override readonly name = 'HttpException';
  readonly status = 404;
  readonly response = { statusCode: 404, message: 'not here' };

  getStatus(): number {
    return this.status;
  }

  getResponse(): object {
    return this.response;
  }
}

class TeapotException extends HttpException {
  constructor() {
    super('short and stout', 418);
  }
}

const chunks = (...parts: string[]): Readable => Readable.from(parts.map((part) => Buffer.from(part)));

const kinds: Kind[] = [
  { title: 'a plain value', controller: returning(() => ({ id: 7 })), outcome: succeeds },
  { title: 'nothing', controller: returning(() => undefined), outcome: succeeds },
  { title: 'null', controller: returning(() => null), outcome: succeeds },
  { title: 'an error thrown at once', controller: returning(() => boom('before')), outcome: fails('before') },

  { title: 'a promise', controller: returning(() => later({ id: 7 })), outcome: succeeds },
  {
    title: 'an error thrown before the promise is made',
    controller: returning(() => (Date.now() > 0 ? boom('before') : later(1))),
    outcome: fails('before'),
  },
  {
    title: 'a promise that rejects later',
    controller: returning(() => later(1).then(() => boom('during'))),
    outcome: fails('during'),
  },
  {
    title: 'a promise that rejects with a 409',
    controller: returning(() => later(1).then(() => Promise.reject(new ConflictException('taken')))),
    outcome: refused,
  },

  { title: 'an observable of several values', controller: returning(() => of(1, 2, 3)), outcome: succeeds },
  {
    title: 'an observable of values over time',
    controller: returning(() => interval(2).pipe(take(3))),
    outcome: succeeds,
  },
  {
    title: 'an observable of no values',
    controller: returning(() => EMPTY),
    outcome: succeeds,
  },
  {
    title: 'an error thrown before the observable is made',
    controller: returning(() => (Date.now() > 0 ? boom('before') : of(1))),
    outcome: fails('before'),
  },
  {
    title: 'an observable that errors at once',
    controller: returning(() => throwError(() => new Error('during'))),
    outcome: fails('during'),
  },
  {
    title: 'an observable that errors with a 404',
    controller: returning(() => throwError(() => new NotFoundException('gone'))),
    outcome: refused,
  },
  {
    title: 'an observable that errors after values',
    controller: returning(() =>
      concat(
        of(1),
        of(2),
        throwError(() => new Error('late')),
      ),
    ),
    outcome: fails('late'),
  },
  { title: 'a promise of an observable', controller: returning(() => later(of(1, 2))), outcome: succeeds },
  {
    title: 'a promise of an observable that errors after values',
    controller: returning(() =>
      later(
        concat(
          of(1),
          throwError(() => new Error('late')),
        ),
      ),
    ),
    outcome: fails('late'),
  },

  {
    title: 'an async generator',
    controller: returning(async function* () {
      yield 'a';
      yield await later('b');
    }),
    outcome: succeeds,
  },
  {
    title: 'an async generator that throws before its first value',
    controller: returning(async function* () {
      await later(1);
      if (Date.now() > 0) boom('before');
      yield 'a';
    }),
    outcome: fails('before'),
  },
  {
    title: 'an async generator that throws after values',
    controller: returning(async function* () {
      yield 'a';
      await later(1);
      boom('late');
    }),
    outcome: fails('late'),
  },

  {
    title: 'a lazy thenable that resolves',
    controller: returning(() => new LazyThenable((resolve) => resolve({ id: 7 }))),
    outcome: succeeds,
  },
  {
    title: 'a lazy thenable that rejects',
    controller: returning(() => new LazyThenable((_resolve, reject) => reject(new Error('query')))),
    outcome: fails('query'),
  },

  {
    title: 'a StreamableFile',
    controller: returning(() => new StreamableFile(chunks('first ', 'second'))),
    outcome: succeeds,
  },
  {
    title: 'a promise of a StreamableFile',
    controller: returning(() => later(new StreamableFile(chunks('first ', 'second')))),
    outcome: succeeds,
  },
  {
    title: 'an error thrown before the StreamableFile is made',
    controller: returning(() => (Date.now() > 0 ? boom('before') : new StreamableFile(chunks('x')))),
    outcome: fails('before'),
  },
  {
    title: 'a StreamableFile whose source breaks after the first chunk',
    controller: returning(
      () =>
        new StreamableFile(
          Readable.from(
            (async function* () {
              yield Buffer.from('first ');
              await later(1);
              boom('disk');
            })(),
          ),
        ),
    ),
    outcome: succeeds,
  },

  {
    title: 'a response sent by hand after the handler has returned',
    controller: (mark) => {
      @Controller('orders')
      class OrdersController {
        @Get()
        @mark
        handle(@Res() response: any): void {
          setTimeout(() => response.send('by hand'), 10);
        }
      }
      return OrdersController;
    },
    outcome: succeeds,
  },
  {
    title: 'an error thrown in a handler that takes the response',
    controller: (mark) => {
      @Controller('orders')
      class OrdersController {
        @Get()
        @mark
        handle(@Res() _response: any): void {
          boom('before');
        }
      }
      return OrdersController;
    },
    outcome: fails('before'),
  },
  {
    title: 'a value beside a passed-through response',
    controller: (mark) => {
      @Controller('orders')
      class OrdersController {
        @Get()
        @mark
        handle(@Res({ passthrough: true }) response: any): object {
          response.header('x-seen', 'yes');
          return { id: 7 };
        }
      }
      return OrdersController;
    },
    outcome: succeeds,
  },
  {
    title: 'a value with a status and headers of its own',
    controller: (mark) => {
      @Controller('orders')
      class OrdersController {
        @Get()
        @HttpCode(202)
        @mark
        @Header('x-seen', 'yes')
        handle(): object {
          return { id: 7 };
        }
      }
      return OrdersController;
    },
    outcome: succeeds,
  },
  {
    title: 'a redirect',
    controller: (mark) => {
      @Controller('orders')
      class OrdersController {
        @Get()
        @Redirect('/elsewhere', 302)
        @mark
        handle(): void {}
      }
      return OrdersController;
    },
    outcome: succeeds,
  },

  { title: 'events', controller: streaming(() => of({ data: 'a' }, { data: 'b' })), outcome: succeeds },
  {
    title: 'events over time',
    controller: streaming(() =>
      interval(2).pipe(
        take(3),
        map((data) => ({ data })),
      ),
    ),
    outcome: succeeds,
  },
  { title: 'a promise of events', controller: streaming(() => later(of({ data: 'a' }))), outcome: succeeds },
  {
    title: 'an error thrown before the events',
    controller: streaming(() => boom('before')),
    outcome: fails('before'),
  },
  {
    title: 'events that break after the first',
    controller: streaming(() =>
      concat(
        of({ data: 'a' }).pipe(delay(5)),
        throwError(() => new Error('late')),
      ),
    ),
    outcome: fails('late'),
  },
  {
    title: 'a promise of events that rejects',
    controller: streaming(() => later(1).then(() => boom('during'))),
    outcome: fails('during'),
  },

  { title: 'a 404', controller: returning(() => Promise.reject(new NotFoundException())), outcome: refused },
  {
    title: 'a subclass of HttpException with 418',
    controller: returning(() => {
      throw new TeapotException();
    }),
    outcome: refused,
  },
  {
    title: 'an HttpException with 499',
    controller: returning(() => {
      throw new HttpException('client closed request', 499);
    }),
    outcome: refused,
  },
  {
    title: 'an HttpException with 500',
    controller: returning(() => {
      throw new HttpException('down', 500);
    }),
    outcome: fails('down'),
  },
  {
    title: 'a 503',
    controller: returning(() => later(1).then(() => Promise.reject(new ServiceUnavailableException('busy')))),
    outcome: fails('busy'),
  },
  {
    title: 'what only looks like an HttpException',
    controller: returning(() => {
      throw new LookalikeException('not here');
    }),
    outcome: fails('not here'),
  },
  {
    title: 'an HTTP client error with a status of 404',
    controller: returning(() => {
      throw Object.assign(new Error('upstream said no'), { status: 404, response: { status: 404 } });
    }),
    outcome: fails('upstream said no'),
  },
  {
    title: 'a thrown string',
    controller: returning(() => {
      throw 'just words';
    }),
    outcome: { status: ERROR },
  },
  {
    title: 'a thrown null',
    controller: returning(() => {
      throw null;
    }),
    outcome: { status: ERROR },
  },
  {
    title: 'a thrown error whose message cannot be read',
    controller: returning(() => {
      throw Object.defineProperty(new Error(), 'message', {
        get() {
          throw new Error('hands off');
        },
      });
    }),
    outcome: { status: ERROR },
  },
];

/** What the client sees, without what differs from answer to answer anyway. */
function seenByClient({ status, headers, text, broken }: HttpReply): object {
  const { date, 'keep-alive': _keepAlive, ...rest } = headers;
  return { status, headers: rest, text, broken, dated: date !== undefined };
}

const exceptionEvents = (span: ReadableSpan): unknown[] =>
  span.events
    .filter((event) => event.name === 'exception')
    .map((event) => event.attributes?.['exception.message']);

onEachPlatform('the outcome of a handler', (platform: HttpPlatform) => {
  const withoutLens = new Map<string, object>();

  beforeAll(async () => {
    for (const kind of kinds) {
      const lens = await lensApp(platform)
        .controllers(kind.controller(inOrders('plain')))
        .start();
      withoutLens.set(kind.title, seenByClient(await lens.get('/orders')));
      await lens.close();
    }
  });

  afterAll(() => withoutLens.clear());

  describe.each(['decorated', 'intercepted'] as const)('%s', (binding) => {
    const appOf = (kind: Kind, spec: string): Promise<LensApp> =>
      lensApp(platform)
        .groups('orders', 'payment')
        .spec(spec)
        .controllers(kind.controller(inOrders(binding)))
        .start();

    it.each(kinds)('I9, I12: $title gives one ended span and the same answer', async (kind) => {
      const lens = await appOf(kind, 'orders');
      const reply = await lens.get('/orders');
      const spans = await lens.spans();

      expect(seenByClient(reply)).toEqual(withoutLens.get(kind.title));
      expect(lens.inFlight()).toEqual([]);
      const span = theSpan(spans, 'OrdersController.handle');
      expect(spans).toHaveLength(1);

      const { status, message } = kind.outcome;
      expect(SpanStatusCode[span.status.code]).toBe(SpanStatusCode[status]);
      if (message !== undefined) {
        expect(span.status.message).toBe(message);
        expect(exceptionEvents(span)).toEqual([message]);
      }
      expect(exceptionEvents(span).length).toBeLessThanOrEqual(1);
      expect(span.attributes).not.toHaveProperty(['nestlens.cancelled']);
    });

    it.each(kinds)('I1, I11: off, $title gives no span and the same answer', async (kind) => {
      const lens = await appOf(kind, 'payment');
      const reply = await lens.get('/orders');

      expect(seenByClient(reply)).toEqual(withoutLens.get(kind.title));
      expect(lens.tracker.started).toBe(0);
      expect(await lens.spans()).toEqual([]);
    });

    it('I10: the span names its group, controller, callback and function', async () => {
      const lens = await appOf(kinds[0] as Kind, 'orders');
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
      const lens = await appOf({ title: '', controller: controllerOf, outcome: succeeds }, 'orders');
      await lens.get('/orders');

      expect(queries.map((query) => query.calls)).toEqual([1, 1]);
    });

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
      const lens = await appOf({ title: '', controller: file, outcome: succeeds }, 'orders');
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
      const lens = await appOf({ title: '', controller: slow, outcome: succeeds }, 'orders');
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
    ] as [string, Kind['controller'], boolean][])(
      'I9: a client that leaves %s ends the span within 100 ms, cancelled and not an error',
      async (_title, controller, answers) => {
        const lens = await appOf({ title: '', controller, outcome: succeeds }, 'orders');
        const client = lens.open('/orders');
        if (answers) await client.firstChunk;
        expect(await until(() => lens.tracker.open.size === 1)).toBe(true);
        const leftAt = await client.disconnect();
        const span = theSpan(await lens.spans(), 'OrdersController.handle');

        expect(lens.inFlight()).toEqual([]);
        expect(endedAt(span) - leftAt).toBeLessThan(100);
        expect(span.attributes['nestlens.cancelled']).toBe(true);
        expect(span.status.code).toBe(UNSET);
        expect(exceptionEvents(span)).toEqual([]);
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

    it('I9: a request that a guard refuses makes no span', async () => {
      class Closed implements CanActivate {
        canActivate(): boolean {
          return false;
        }
      }
      class Forbidding implements CanActivate {
        canActivate(): boolean {
          throw new ForbiddenException('not you');
        }
      }
      @Controller('orders')
      class OrdersController {
        @Get('closed')
        @UseGuards(Closed)
        @inOrders(binding)
        closed(): string {
          return 'never';
        }

        @Get('forbidden')
        @UseGuards(Forbidding)
        @inOrders(binding)
        forbidden(): string {
          return 'never';
        }
      }
      const lens = await lensApp(platform).groups('orders').controllers(OrdersController).start();
      const replies = [await lens.get('/orders/closed'), await lens.get('/orders/forbidden')];

      expect(replies.map((reply) => reply.status)).toEqual([403, 403]);
      expect(lens.tracker.started).toBe(0);
      expect(lens.inFlight()).toEqual([]);
    });

    it.each(['orders', 'orders/events'])(
      'N6, I12: a pipe that rejects (%s) leaves no span open',
      async (path) => {
        @Controller('orders')
        class OrdersController {
          @Get(':id')
          @inOrders(binding)
          one(@Param('id', ParseUUIDPipe) id: string): string {
            return id;
          }

          @Sse('events/:id')
          @inOrders(binding)
          events(@Param('id', ParseUUIDPipe) _id: string): Observable<object> {
            return of({ data: 'a' });
          }
        }
        const lens = await lensApp(platform).groups('orders').controllers(OrdersController).start();
        const reply = await lens.get(`/${path}/not-a-uuid`);
        const spans = await lens.spans();

        expect(reply.status).toBe(400);
        expect(lens.inFlight()).toEqual([]);
        expect(spans).toHaveLength(binding === 'intercepted' ? 1 : 0);
        for (const span of spans) expect(span.status.code).toBe(UNSET);
      },
    );

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

    it('H9: a request that is never answered does not hold the close up', async () => {
      const hanging = returning(() => new Promise(() => undefined));
      const lens = await appOf({ title: '', controller: hanging, outcome: succeeds }, 'orders');
      const client = lens.open('/orders');
      expect(await until(() => lens.tracker.open.size === 1)).toBe(true);
      await client.disconnect();
      const from = Date.now();
      await lens.close();

      expect(Date.now() - from).toBeLessThan(1_500);
      expect(everythingSaid()).toEqual([]);
    });
  });

  it('I9: middleware that throws leaves no span open', async () => {
    @Controller('orders')
    class OrdersController {
      @Get()
      @inOrders('intercepted')
      handle(): string {
        return 'never';
      }
    }
    const lens = await lensApp(platform)
      .groups('orders')
      .controllers(OrdersController)
      .configure((app) => {
        app.use(() => {
          throw new Error('middleware');
        });
      })
      .start();
    const reply = await lens.get('/orders');

    expect(reply.status).toBe(500);
    expect(lens.tracker.started).toBe(0);
  });

  it('I9: 404 for a route that does not exist makes no span', async () => {
    @Controller('orders')
    class OrdersController {
      @Get()
      @inOrders('intercepted')
      handle(): string {
        return 'never';
      }
    }
    const lens = await lensApp(platform).groups('orders').controllers(OrdersController).start();

    expect((await lens.get('/nowhere')).status).toBe(404);
    expect(lens.tracker.started).toBe(0);
  });
});
