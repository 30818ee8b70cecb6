import { beforeEach, describe, expect, it } from 'vitest';
import {
  type CallHandler,
  Controller,
  type ExecutionContext,
  Get,
  Inject,
  Injectable,
  type NestInterceptor,
  UseInterceptors,
} from '@nestjs/common';
import { SpanStatusCode } from '@opentelemetry/api';
import { ClsInterceptor, ClsModule, ClsService } from 'nestjs-cls';
import { AsyncLocalStorage } from 'node:async_hooks';
import { defer, forkJoin, from, lastValueFrom, map, Observable, of, retry, switchMap, timer } from 'rxjs';
import {
  clearSpanGroupOverride,
  overrideSpanGroups,
  setSpanGroupSpec,
  SpanGroup,
  SpanGroupInterceptor,
  SpanRegistry,
} from 'nest-lens';
import { type CapturedSpans, captureSpans } from '../../support/capture-spans.js';
import { express, onEachPlatform } from '../../support/adapters.js';
import {
  guardEachTest,
  lensApp,
  type LensApp,
  namesOf,
  parentIdOf,
  theSpan,
} from '../../support/lens-app.js';
import { turn } from '../../support/result-kinds.js';

onEachPlatform('a call that a span covers already', (platform) => {
  it('N5: an intercepted handler that calls the one it overrides gives one span', async () => {
    @SpanGroup('orders')
    class Base {
      @Get('page')
      page(): string {
        return 'page';
      }
    }
    @UseInterceptors(SpanGroupInterceptor)
    @SpanGroup('orders')
    @Controller('a')
    class SubController extends Base {
      @Get('page')
      override page(): string {
        return super.page();
      }
    }
    const lens = await lensApp(platform).groups('orders').controllers(SubController).start();

    expect((await lens.get('/a/page')).text).toBe('page');
    expect(namesOf(await lens.spans())).toEqual(['SubController.page']);
  });
});

/** What inner interceptors do with `next.handle()`, other than to call it at once. */
const innerWays: [string, (next: CallHandler) => Observable<unknown>][] = [
  ['passes it on', (next) => next.handle()],
  ['calls it when subscribed', (next) => defer(() => next.handle())],
  ['calls it after a promise', (next) => from(turn()).pipe(switchMap(() => next.handle()))],
  ['calls it after a timer', (next) => timer(1).pipe(switchMap(() => next.handle()))],
  [
    'subscribes by itself, in a store of its own, after a promise',
    (next) =>
      new Observable((subscriber) => {
        void store.run({}, async () => {
          await turn();
          next.handle().subscribe(subscriber);
        });
      }),
  ],
  ['turns it into a promise', (next) => from(lastValueFrom(next.handle()))],
  ['turns it into a promise, later', (next) => defer(async () => lastValueFrom(next.handle()))],
];
const store = new AsyncLocalStorage<object>();

onEachPlatform('under SpanGroupInterceptor, an inner interceptor', (platform) => {
  /** A shop whose handlers fail as often as `failures` says, behind inner interceptors. */
  async function shopBehind(
    inner: (next: CallHandler) => Observable<unknown>,
    failures = 0,
  ): Promise<{ lens: LensApp; calls: () => number }> {
    let calls = 0;
    @Injectable()
    class Inner implements NestInterceptor {
      intercept(_execution: ExecutionContext, next: CallHandler): Observable<unknown> {
        return inner(next);
      }
    }
    const answer = (): string => {
      calls += 1;
      if (calls <= failures) throw new Error(`failure ${calls}`);
      return 'answer';
    };
    @Controller('orders')
    @UseInterceptors(SpanGroupInterceptor, Inner)
    @SpanGroup('orders')
    class OrdersController {
      @Get('value')
      value(): string {
        return answer();
      }

      @Get('promise')
      async promise(): Promise<string> {
        await turn();
        return answer();
      }

      @Get('observable')
      observable(): Observable<string> {
        return defer(turn).pipe(map(answer));
      }
    }
    const lens = await lensApp(platform).groups('orders').controllers(OrdersController).start();
    return { lens, calls: () => calls };
  }
  const results = ['value', 'promise', 'observable'];

  it.each(innerWays)(
    'N5: that %s: one call gives one span, whatever it results in',
    async (_title, inner) => {
      const { lens } = await shopBehind(inner);
      for (const result of results) expect((await lens.get(`/orders/${result}`)).text).toBe('answer');

      expect(namesOf(await lens.spans())).toEqual(
        results.map((result) => `OrdersController.${result}`).sort(),
      );
      expect(lens.inFlight()).toEqual([]);
    },
  );

  it.each(innerWays)(
    'N5: that %s, and tries three times: the tries are below one span, none has a span of its own',
    async (_title, inner) => {
      for (const result of results) {
        const { lens, calls } = await shopBehind((next) => inner(next).pipe(retry(2)), 2);
        const reply = await lens.get(`/orders/${result}`);
        const names = namesOf(await lens.spans());
        await lens.close();

        // A promise that has failed stays failed, whoever asks it again.
        const isRepeatable = !_title.endsWith('into a promise');
        expect({ result, status: reply.status, calls: calls() }).toEqual({
          result,
          status: isRepeatable ? 200 : 500,
          calls: isRepeatable ? 3 : 1,
        });
        expect(names).toEqual([`OrdersController.${result}`]);
      }
    },
  );

  it("N5: that is nestjs-cls's own: one call gives one span, and its store is there", async () => {
    @Controller('orders')
    @UseInterceptors(SpanGroupInterceptor, ClsInterceptor)
    class OrdersController {
      constructor(@Inject(ClsService) private readonly cls: ClsService) {}

      @Get()
      @SpanGroup('orders')
      async list(): Promise<string> {
        await turn();
        return String(this.cls.getId());
      }
    }
    const lens = await lensApp(platform)
      .groups('orders')
      .imports(
        ClsModule.forRoot({
          global: true,
          interceptor: { mount: false, generateId: true, idGenerator: () => 'id' },
        }),
      )
      .controllers(OrdersController)
      .start();

    expect((await lens.get('/orders')).text).toBe('id');
    expect(namesOf(await lens.spans())).toEqual(['OrdersController.list']);
  });

  it('N5: that calls the handler twice at once: both are below one span', async () => {
    const { lens, calls } = await shopBehind((next) =>
      forkJoin([defer(() => next.handle()), next.handle()]).pipe(map(([first]) => first)),
    );
    expect((await lens.get('/orders/promise')).text).toBe('answer');

    expect(calls()).toBe(2);
    expect(namesOf(await lens.spans())).toEqual(['OrdersController.promise']);
  });

  it('N5: that calls another decorated method: that one has a span of its own', async () => {
    class Prices {
      @SpanGroup('orders')
      load(): string {
        return 'loaded';
      }
    }
    const { lens } = await shopBehind((next) => {
      new Prices().load();
      return next.handle();
    });
    await lens.get('/orders/value');

    const spans = await lens.spans();
    expect(namesOf(spans)).toEqual(['OrdersController.value', 'Prices.load']);
    expect(parentIdOf(theSpan(spans, 'Prices.load'))).toBe(
      theSpan(spans, 'OrdersController.value').spanContext().spanId,
    );
  });

  it('N5: an outer one that tries three times gives a span for each try', async () => {
    let calls = 0;
    @Injectable()
    class Retrying implements NestInterceptor {
      intercept(_execution: ExecutionContext, next: CallHandler): Observable<unknown> {
        return defer(() => next.handle()).pipe(retry(2));
      }
    }
    @Controller('orders')
    @UseInterceptors(Retrying, SpanGroupInterceptor)
    @SpanGroup('orders')
    class OrdersController {
      @Get()
      async list(): Promise<string> {
        calls += 1;
        if (calls < 3) throw new Error(`failure ${calls}`);
        return 'list';
      }
    }
    const lens = await lensApp(platform).groups('orders').controllers(OrdersController).start();
    expect((await lens.get('/orders')).text).toBe('list');

    const spans = await lens.spans();
    expect(namesOf(spans)).toEqual(Array.from({ length: 3 }, () => 'OrdersController.list'));
    expect(spans.map(parentIdOf)).toEqual([undefined, undefined, undefined]);
  });
});

describe("SpanGroupInterceptor with a CallHandler that isn't Nest's", () => {
  guardEachTest();

  class Orders {
    @SpanGroup('orders')
    async list(depth = 0): Promise<string> {
      await turn();
      return depth === 0 ? 'list' : this.list(depth - 1);
    }

    plain(): string {
      return 'plain';
    }
  }
  const execution = (handler: (...args: never[]) => unknown): ExecutionContext =>
    ({
      getType: () => 'custom',
      getClass: () => Orders,
      getHandler: () => handler,
      getArgByIndex: () => undefined,
    }) as unknown as ExecutionContext;

  it.each<[string, (orders: Orders) => CallHandler]>([
    ['calls the handler at once', (orders) => ({ handle: () => from(orders.list()) })],
    ['calls the handler when subscribed', (orders) => ({ handle: () => defer(() => orders.list()) })],
    [
      'was made before the call, and calls the handler after a promise',
      (orders) => {
        const handled = from(turn()).pipe(switchMap(() => orders.list()));
        return { handle: () => handled };
      },
    ],
    [
      'calls the handler in a subscriber function',
      (orders) => ({
        handle: () =>
          new Observable((subscriber) => {
            void orders.list().then((value) => {
              subscriber.next(value);
              subscriber.complete();
            });
          }),
      }),
    ],
  ])('N5: that %s: one call gives one span', async (_title, handlerOf) => {
    const lens = await lensApp(express).groups('orders').start();
    const interceptor = lens.app.get(SpanGroupInterceptor);
    const result = interceptor.intercept(execution(Orders.prototype.list), handlerOf(new Orders()));

    expect(await lastValueFrom(result)).toBe('list');
    expect(namesOf(await lens.spans())).toEqual(['Orders.list']);
  });

  const failure = new Error('failure');
  it.each<[string, () => unknown, boolean]>([
    ['nothing', () => undefined, false],
    ['a value', () => 5, false],
    ['an object', () => ({ pipe: 1 }), false],
    ['a promise', async () => 'value', false],
    ['a promise that rejects', () => Promise.reject(failure), true],
  ])('I14: that gives %s: it is handed back as it is, and the span ends', async (_title, give, isError) => {
    const lens = await lensApp(express).groups('orders').start();
    const given = give();
    const handle = (): Observable<unknown> => given as Observable<unknown>;
    const result = lens.app.get(SpanGroupInterceptor).intercept(execution(Orders.prototype.list), { handle });

    expect(result).toBe(given);
    await Promise.resolve(given).catch(() => undefined);
    const span = theSpan(await lens.spans(), 'Orders.list');
    expect(span.status.code === SpanStatusCode.ERROR).toBe(isError);
    expect(lens.inFlight()).toEqual([]);
  });

  it.each<[string, Partial<ExecutionContext>]>([
    ['has no getArgByIndex', { getType: (() => 'http') as never }],
    ['has no getType', {}],
    [
      'throws from getArgByIndex',
      {
        getType: (() => 'http') as never,
        getArgByIndex: () => {
          throw failure;
        },
      },
    ],
  ])('I14: with an execution context that %s: the value comes, in a span', async (_title, members) => {
    const lens = await lensApp(express).groups('orders').start();
    const given = { getClass: () => Orders, getHandler: () => Orders.prototype.list, ...members };
    const interceptor = lens.app.get(SpanGroupInterceptor);

    const result = interceptor.intercept(given as unknown as ExecutionContext, { handle: () => of(1) });
    expect(await lastValueFrom(result)).toBe(1);
    expect(namesOf(await lens.spans())).toEqual(['Orders.list']);
  });

  it('N5: recursion within the handler gives a span for each call that it makes', async () => {
    const lens = await lensApp(express).groups('orders').start();
    const interceptor = lens.app.get(SpanGroupInterceptor);
    const handle = (): Observable<string> => defer(() => new Orders().list(2));

    expect(await lastValueFrom(interceptor.intercept(execution(Orders.prototype.list), { handle }))).toBe(
      'list',
    );
    expect(namesOf(await lens.spans())).toEqual(['Orders.list', 'Orders.list', 'Orders.list']);
  });
});

describe('a decorated method', () => {
  let spans: CapturedSpans;
  beforeEach(() => {
    spans = captureSpans();
  });

  it('N4: of another object is another call, though it is of the base class', () => {
    SpanRegistry.register('shop', ['orders']);
    setSpanGroupSpec('orders');
    @SpanGroup('orders')
    class Store {
      read(): string {
        return 'stored';
      }
    }
    @SpanGroup('orders')
    class CachedStore extends Store {
      constructor(private readonly inner: Store) {
        super();
      }
      override read(): string {
        return this.inner.read();
      }
    }

    expect(new CachedStore(new CachedStore(new Store())).read()).toBe('stored');
    expect(spans.names()).toEqual(['Store.read', 'CachedStore.read', 'CachedStore.read']);
  });

  it('T6, I9: makes no span for a subscription that comes when the group is off', async () => {
    SpanRegistry.register('shop', ['orders']);
    setSpanGroupSpec('orders');
    class Prices {
      @SpanGroup('orders')
      live() {
        return of(1, 2);
      }
    }
    const prices = new Prices().live();
    await lastValueFrom(prices);
    overrideSpanGroups('');
    expect(await lastValueFrom(prices)).toBe(2);
    clearSpanGroupOverride();
    await lastValueFrom(prices);

    expect(spans.all()).toHaveLength(2);
  });

  it('I10: no attribute of the site can hide the group', () => {
    SpanRegistry.register('shop', ['orders']);
    setSpanGroupSpec('orders');
    class Orders {
      @SpanGroup('orders', { attributes: () => ({ 'nestlens.group': 'another' }) })
      place(): void {}
    }
    new Orders().place();

    expect(spans.single().attributes['nestlens.group']).toBe('orders');
  });
});
