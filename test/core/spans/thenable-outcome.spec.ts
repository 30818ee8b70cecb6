import vm from 'node:vm';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { type Span, SpanStatusCode, trace } from '@opentelemetry/api';
import { from, lastValueFrom, type Observable, of } from 'rxjs';
import { managedSpan, setEnabledSpanGroups, traceFn, withSpan } from 'nest-lens/core';
import { truncateInFlight } from '../../../src/core/spans/in-flight-span.js';
import {
  captureSpans,
  type CapturedSpans,
  exceptions,
  parentId,
  spanId,
} from '../../support/capture-spans.js';
import { compileCore } from '../../support/compiled-core.js';

let spans: CapturedSpans;
beforeEach(() => {
  spans = captureSpans();
  setEnabledSpanGroups(['orders']);
});

const inSpan = <T>(body: (span: Span | undefined) => T): T => managedSpan('orders', 'work', body);
const macrotask = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

type Callback = (value: unknown) => unknown;

/** A query that runs when its `then` is called: each time, as knex has it. */
class Query {
  runs = 0;
  inside: Span | undefined;

  constructor(
    private readonly answer: unknown = 'rows',
    private readonly error?: Error,
  ) {}

  where(): this {
    return this;
  }

  then(onFulfilled?: Callback, onRejected?: Callback): Promise<unknown> {
    this.runs++;
    this.inside = trace.getActiveSpan();
    return new Promise((resolve, reject) => {
      setTimeout(() => (this.error === undefined ? resolve(this.answer) : reject(this.error)), 2);
    }).then(onFulfilled, onRejected);
  }
}

/** A promise of a class of its own, whose work has begun. */
class Cancellable<T> extends Promise<T> {
  cancel(): string {
    return 'cancelled';
  }
}

const later = <T>(value: T): Cancellable<T> =>
  new Cancellable((resolve) => setTimeout(() => resolve(value), 2));

function expectOk(name = 'work'): void {
  const { status, attributes, events } = spans.single(name);
  expect([status.code, attributes, events]).toEqual([
    SpanStatusCode.UNSET,
    { 'nestlens.group': 'orders' },
    [],
  ]);
  expect(spans.openCount()).toBe(0);
}

function expectError(message: string, name = 'work'): void {
  expect(spans.single(name).status).toEqual({ code: SpanStatusCode.ERROR, message });
  expect(exceptions(spans.single(name))).toHaveLength(1);
  expect(spans.openCount()).toBe(0);
}

/** Whether an object has no `then` of its own, and shows none. */
function expectNoTrace(thenable: object): void {
  expect(Reflect.ownKeys(thenable)).not.toContain('then');
}

describe('an object with a then', () => {
  it('I9: is awaited once, inside the span, which lasts until it answers', async () => {
    const query = new Query();
    const got = inSpan((span) => {
      expect(span).toBeDefined();
      return query;
    });
    expect(Object.is(got, query)).toBe(true);
    expect([query.runs, spans.openCount()]).toEqual([0, 1]);
    expect(await got).toBe('rows');
    expect(query.runs).toBe(1);
    expect(spanId(spans.single('work'))).toBe(query.inside?.spanContext().spanId);
    expectNoTrace(query);
    expectOk();
  });

  it('I9: that fails is an error of the span, with the same reason', async () => {
    const error = new Error('no such table');
    await expect(inSpan(() => new Query(undefined, error))).rejects.toBe(error);
    expectError('no such table');
  });

  it('I9: that nobody awaits ends the span at the next macrotask, without a mark, and is not run', async () => {
    const query = inSpan(() => new Query());
    expect(spans.openCount()).toBe(1);
    await macrotask();
    await macrotask();
    expectOk();
    expectNoTrace(query);
    expect(query.runs).toBe(0);
    expect(await query).toBe('rows');
    expect([query.runs, query.inside]).toEqual([1, undefined]);
  });

  it('I9: that is changed before it is awaited keeps its span: a query is still being built', async () => {
    const query = inSpan(() => new Query()).where();
    expect(await query).toBe('rows');
    expectOk();
  });

  it('I9: shows no own member in a loop while it waits, and has none afterwards', async () => {
    const query = inSpan(() => new Query());
    expect(Object.keys(query)).toEqual(['answer', 'error', 'runs', 'inside']);
    expect(JSON.parse(JSON.stringify(query))).toEqual({ answer: 'rows', runs: 0 });
    expect(Object.assign({}, query)).not.toHaveProperty('then');
    await query;
    expectNoTrace(query);
  });

  it('I9: with a then of its own gets it back as it was, in its place', async () => {
    const then = (resolve: Callback): void => void resolve(1);
    const make = () => ({ first: 1, then, [Symbol.toStringTag]: 'PrismaPromise', last: 2 });
    const before = Object.getOwnPropertyDescriptors(make());
    const [asked, left] = [inSpan(make), inSpan(make)];
    expect(Object.keys(asked)).toEqual(['first', 'then', 'last']);
    expect(await asked).toBe(1);
    await macrotask();
    await macrotask();
    for (const thenable of [asked, left]) {
      expect(Object.getOwnPropertyDescriptors(thenable)).toEqual(before);
      expect(Object.keys(thenable)).toEqual(['first', 'then', 'last']);
    }
  });

  it('I9: is covered for the first that asks; a second then is its own business', async () => {
    const query = inSpan(() => new Query());
    const first = query.then();
    expectNoTrace(query);
    const second = query.then();
    const inside = query.inside;
    expect(await Promise.all([first, second])).toEqual(['rows', 'rows']);
    expect([query.runs, inside]).toEqual([2, undefined]);
    expectOk();
  });

  it.each<[string, (query: Query) => Promise<unknown>]>([
    ['await', async (query) => await query],
    ['a return from an async function', async (query) => query],
    ['Promise.resolve', (query) => Promise.resolve(query)],
    ['Promise.all', async (query) => (await Promise.all([query, Promise.resolve(1)]))[0]],
    ['Promise.race', (query) => Promise.race([query, new Promise(() => undefined)])],
    [
      'Promise.allSettled',
      async (query) => (await Promise.allSettled([query]))[0].status === 'fulfilled' && 'rows',
    ],
    ['the executor of a promise', (query) => new Promise((resolve) => resolve(query))],
    ['the callback of a promise', (query) => Promise.resolve().then(() => query)],
    ["RxJS's from", (query) => lastValueFrom(from(query as PromiseLike<unknown>))],
  ])('I9: is covered for %s', async (_way, take) => {
    const query = inSpan(() => new Query());
    expect(await take(query)).toBe('rows');
    expect(query.runs).toBe(1);
    expect(query.inside?.spanContext().spanId).toBe(spanId(spans.single('work')));
    expectOk();
  });

  it('I9: that calls back at once, as no promise does', () => {
    const seen: unknown[] = [];
    const thenable = inSpan(() => ({ then: (resolve: Callback) => resolve(3) }));
    thenable.then((value) => seen.push(value));
    expect(seen).toEqual([3]);
    expectOk();
  });

  it('I9: whose then throws throws the same, and the span has it', async () => {
    const error = new TypeError('builders cannot be awaited');
    const builder = {
      then: () => {
        throw error;
      },
    };
    const got = inSpan(() => builder);
    expect(() => got.then()).toThrow(error);
    expectError('builders cannot be awaited');
    spans.clear();
    await expect(Promise.resolve(inSpan(() => builder) as unknown)).rejects.toBe(error);
    expectError('builders cannot be awaited');
  });

  it('I9: asked without callbacks hands its answer, or its reason, to what then returned', async () => {
    const error = new Error('no such table');
    expect(await inSpan(() => new Query()).then()).toBe('rows');
    await expect(inSpan(() => new Query(undefined, error)).then((value) => value)).rejects.toBe(error);
    expect(spans.named('work').map((span) => span.status.code)).toEqual([
      SpanStatusCode.UNSET,
      SpanStatusCode.ERROR,
    ]);
  });

  it('I9: that fails at once hands its reason to what then returned', async () => {
    const error = new Error('no such table');
    const thenable = inSpan(() => ({
      then: (_onFulfilled: Callback, onRejected: Callback) =>
        new Promise((resolve) => resolve(onRejected(error))),
    }));
    await expect((thenable.then as (onFulfilled: Callback) => unknown)(() => 'rows')).rejects.toBe(error);
    expectError('no such table');
  });

  it('I9, I14: without a promise behind its then, a reason that nobody takes is thrown nowhere', async () => {
    const rejected = vi.fn();
    const thenable = inSpan(() => ({
      then(_onFulfilled: Callback, onRejected?: Callback): void {
        setImmediate(() => {
          expect(() => onRejected?.(new Error('nobody cares'))).not.toThrow();
          rejected();
        });
      },
    }));
    thenable.then(() => undefined);
    await macrotask();
    await macrotask();
    expect(rejected).toHaveBeenCalledTimes(1);
    expectError('nobody cares');
  });

  it('I9: gets every argument of then, and calls back with its own receiver and values', () => {
    const receiver = {};
    const then = vi.fn(function (this: unknown, resolve: (this: unknown, ...values: number[]) => void) {
      resolve.call(receiver, 1, 2);
      return this;
    });
    const thenable = inSpan(() => ({ then }));
    const seen: unknown[] = [];
    const progress = (): void => undefined;
    const returned = (thenable.then as (...args: unknown[]) => unknown)(
      function (this: unknown, ...values: unknown[]) {
        seen.push(this, ...values);
      },
      undefined,
      progress,
    );
    expect(seen).toEqual([receiver, 1, 2]);
    expect(seen[0]).toBe(receiver);
    expect(returned).toBe(thenable);
    expect(then.mock.calls[0]).toHaveLength(3);
    expect(then.mock.calls[0]![2 as never]).toBe(progress);
  });

  it('I9: that is a function is covered as well', async () => {
    const callable = Object.assign(() => 'called', { then: (resolve: Callback) => void resolve('awaited') });
    const got = inSpan(() => callable);
    expect([Object.is(got, callable), got(), spans.openCount()]).toEqual([true, 'called', 1]);
    expect(await got).toBe('awaited');
    expectOk();
  });

  it('I10, H10: is ended as truncated when telemetry ends while it waits', () => {
    inSpan(() => new Query());
    truncateInFlight();
    expect(spans.single('work').attributes).toMatchObject({ 'nestlens.truncated': true });
    expect(spans.openCount()).toBe(0);
  });

  it.each([
    ['a number', 5],
    ['a schema', { type: 'object' }],
    ['null', null],
    ['undefined', undefined],
  ])('I9: a member named then that is %s makes no thenable: the span ends at return', (_kind, then) => {
    const value = { if: {}, then };
    expect(inSpan(() => value)).toBe(value);
    expect(value).toEqual({ if: {}, then });
    expectOk();
  });

  it('I1: while the group is off nothing is done to it', async () => {
    setEnabledSpanGroups([]);
    const query = Object.freeze(new Query());
    const sealed = inSpan(() => Object.seal(new Query()));
    expect(inSpan(() => query)).toBe(query);
    expectNoTrace(sealed);
    expect(await sealed).toBe('rows');
    expect(spans.startedCount()).toBe(0);
  });
});

describe('a promise that is not a plain one', () => {
  it('I9: of a subclass is handed back as it is, and covered until it settles', async () => {
    const promise = later(1);
    const got = inSpan(() => promise);
    expect(got).toBe(promise);
    expect([got.constructor, got.cancel()]).toEqual([Cancellable, 'cancelled']);
    expect(await got).toBe(1);
    expectNoTrace(got);
    expectOk();
  });

  it.each<[string, (promise: Cancellable<number>) => Promise<unknown>]>([
    ['then', (promise) => promise.then((value) => value)],
    ['catch', (promise) => promise.catch(() => 'never')],
    ['finally', (promise) => promise.finally(() => undefined)],
    ['await', async (promise) => await promise],
  ])('I9: of a subclass is covered by its %s', async (_member, take) => {
    expect(await take(inSpan(() => later(7)))).toBe(7);
    expectOk();
  });

  it('I9: what hangs on a promise of a subclass is still of that class', async () => {
    expect(inSpan(() => later(1)).then((value) => value)).toBeInstanceOf(Cancellable);
    expect(inSpan(() => later(1)).finally(() => undefined)).toBeInstanceOf(Cancellable);
    await macrotask();
  });

  it('I2: of a subclass that rejects is an error; what catches it gets the same reason', async () => {
    const error = new Error('refused');
    const reject = () => new Cancellable((_resolve, rejectIt) => setTimeout(() => rejectIt(error), 2));
    expect(await inSpan(reject).catch((reason: unknown) => reason)).toBe(error);
    expectError('refused');
  });

  it('I9: a rejection that nobody handles is unhandled once, on and off', async () => {
    const compiled = await compileCore();
    const { stdout } = await compiled
      .run(
        `
        const { managedSpan, setEnabledSpanGroups } = await import(core);
        class Cancellable extends Promise {}
        const unhandled = [];
        process.on('unhandledRejection', (reason) => unhandled.push(reason.message));
        for (const group of ['orders', 'another']) {
          setEnabledSpanGroups([group]);
          managedSpan('orders', 'work', () => new Cancellable((_, reject) => reject(new Error('nobody asks'))));
          for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
        }
        console.log(JSON.stringify(unhandled));`,
      )
      .finally(() => compiled.remove());
    expect(JSON.parse(stdout)).toEqual(['nobody asks', 'nobody asks']);
  }, 30_000);

  it('I9: with a then of its own keeps it, and is covered where that one is called', async () => {
    const asked = vi.fn();
    const make = () =>
      Object.defineProperty(Promise.resolve(1), 'then', {
        value(this: Promise<number>, ...args: [Callback]) {
          asked();
          return Promise.prototype.then.apply(this, args);
        },
        configurable: true,
      });
    const promise = make();
    const got = inSpan(() => promise);
    expect(got).toBe(promise);
    expect(asked).not.toHaveBeenCalled();
    expect(await got.then((value) => value)).toBe(1);
    expect(asked).toHaveBeenCalledTimes(1);
    expectOk();
    // The language doesn't ask the `then` of one of its own promises for an await.
    spans.clear();
    expect(await inSpan(make)).toBe(1);
    await macrotask();
    expect(asked).toHaveBeenCalledTimes(1);
    expectOk();
  });

  it("I9: a plain one whose members hang on it gets them along, its iterator's too", async () => {
    const pages = Object.assign(Promise.resolve('first page'), {
      autoPaging: () => 'all',
      async *[Symbol.asyncIterator]() {
        yield 'first';
        yield 'second';
      },
    });
    void Object.defineProperty(pages, 'hidden', { value: 1 });
    const got = inSpan(() => pages) as typeof pages & { hidden: number };
    expect([got.autoPaging(), got.hidden]).toEqual(['all', 1]);
    const seen: string[] = [];
    for await (const page of got) seen.push(page);
    expect([seen, await got]).toEqual([['first', 'second'], 'first page']);
    expectOk();
  });

  it('I14: whose constructor cannot be read is handed back as it is', () => {
    const promise = Object.defineProperty(Promise.resolve(1), 'constructor', {
      get: () => {
        throw new Error('no constructor');
      },
    });
    expect(
      Object.is(
        inSpan(() => promise),
        promise,
      ),
    ).toBe(true);
    expectOk();
  });

  it('I9: a plain one of another realm is followed', async () => {
    const { promise, resolve } = vm.runInNewContext(
      'let resolve; const promise = new Promise((r) => (resolve = r)); ({ promise, resolve })',
    ) as { promise: Promise<number>; resolve: (value: number) => void };
    const got = inSpan(() => promise);
    await macrotask();
    expect(spans.openCount()).toBe(1);
    resolve(7);
    expect(await got).toBe(7);
    expectOk();
  });

  it('I9: of a subclass with every member of a promise is the same object', async () => {
    class Whole extends Cancellable<number> {
      override get [Symbol.toStringTag](): string {
        return 'Whole';
      }
    }
    const { then, finally: last } = Promise.prototype;
    void Object.assign(Whole.prototype, { then, finally: last });
    const promise = new Whole((resolve) => resolve(7));
    expect(
      Object.is(
        inSpan(() => promise),
        promise,
      ),
    ).toBe(true);
    expect(await promise).toBe(7);
    expectOk();
  });

  it('I9: of a subclass of another realm is the same object', async () => {
    const promise = vm.runInNewContext(
      'class Query extends Promise {} new Query((resolve) => resolve(7))',
    ) as Promise<number>;
    const got = inSpan(() => promise);
    expect(Object.is(got, promise)).toBe(true);
    expect(await got).toBe(7);
    expectOk();
  });
});

describe('what an object with a then gives', () => {
  it('I9: an observable goes on with the span', async () => {
    const query = inSpan(() => ({ then: (resolve: Callback) => void resolve(of(1, 2)) }));
    const got = await new Promise<Observable<number>>((resolve) =>
      query.then((value) => resolve(value as Observable<number>)),
    );
    expect(spans.openCount()).toBe(1);
    expect(await lastValueFrom(got)).toBe(2);
    expectOk();
  });

  it('I9: an async generator goes on with the span', async () => {
    async function* rows() {
      yield 1;
      yield 2;
    }
    const query = inSpan(() => ({ then: (resolve: Callback) => void resolve(rows()) }));
    const seen: unknown[] = [];
    for await (const row of (await query) as AsyncGenerator) {
      seen.push(row);
      expect(spans.openCount()).toBe(1);
    }
    expect(seen).toEqual([1, 2]);
    expectOk();
  });

  it('I9: another one goes on with the span, and a promise too', async () => {
    expect(await inSpan(() => ({ then: (resolve: Callback) => void resolve(new Query()) }))).toBe('rows');
    expectOk();
    spans.clear();
    const promise = Promise.resolve('promised');
    expect(await inSpan(() => ({ then: (resolve: Callback) => void resolve(promise) }))).toBe('promised');
    expectOk();
  });

  it('I9: in an async function the language awaits it: one piece of work', async () => {
    const query = new Query();
    expect(await inSpan(async () => query as unknown)).toBe('rows');
    expect(query.runs).toBe(1);
    expectOk();
  });
});

describe('one object that several sites hand on', () => {
  const layered = (query: Query): Query =>
    managedSpan('orders', 'handler', () =>
      managedSpan('orders', 'service', () => traceFn('orders', 'repository')(() => query)()),
    );

  it('I9: is covered by each of them, one inside the other', async () => {
    const query = new Query();
    expect(await layered(query)).toBe('rows');
    expect(query.runs).toBe(1);
    for (const name of ['handler', 'service', 'repository']) expectOk(name);
    const [handler, service, repository] = ['handler', 'service', 'repository'].map((name) =>
      spans.single(name),
    );
    expect([parentId(repository!), parentId(service!)]).toEqual([spanId(service!), spanId(handler!)]);
    expect(query.inside?.spanContext().spanId).toBe(spanId(repository!));
    expect(spans.names()).toEqual(['repository', 'service', 'handler']);
    expectNoTrace(query);
  });

  it('I9: that fails is an error of each of them', async () => {
    await expect(layered(new Query(undefined, new Error('late')))).rejects.toThrow('late');
    for (const name of ['handler', 'service', 'repository']) expectError('late', name);
  });

  it('I9: that nobody asks ends with each of them, and has no then of its own left', async () => {
    const query = layered(new Query());
    for (let round = 0; round < 4; round++) await macrotask();
    for (const name of ['handler', 'service', 'repository']) expectOk(name);
    expectNoTrace(query);
  });

  it('I9: at different times is covered by the later one alone', async () => {
    const query = inSpan(() => new Query());
    await macrotask();
    await macrotask();
    expect(await managedSpan('orders', 'later', () => query)).toBe('rows');
    expect(query.inside?.spanContext().spanId).toBe(spanId(spans.single('later')));
    expectNoTrace(query);
  });

  it('I9: that is being awaited when another site hands it on has no then of its own left', async () => {
    const query = managedSpan('orders', 'first', () => new Query());
    // It is asked for its `then` now, which is called in the next microtask.
    const answer = Promise.resolve(query);
    managedSpan('orders', 'second', () => query);
    expect(await answer).toBe('rows');
    for (let round = 0; round < 3; round++) await macrotask();
    for (const name of ['first', 'second']) expectOk(name);
    expectNoTrace(query);
    expect(query.runs).toBe(1);
  });

  it('I9: of two copies of the package is covered by both, and has no then of its own left', async () => {
    const compiled = await compileCore();
    const { stdout } = await compiled
      .run(
        `
        import { trace } from '@opentelemetry/api';
        import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
        const exporter = new InMemorySpanExporter();
        trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
        const [one, two] = [await import(core), await import(copy)];
        one.setEnabledSpanGroups(['orders']);
        class Query { then(resolve) { setTimeout(resolve, 2, 'rows'); } }
        const make = (query) => one.managedSpan('orders', 'outer', () => two.managedSpan('orders', 'inner', () => query));
        const [asked, left] = [new Query(), new Query()];
        const answer = await make(asked);
        const afterAsked = exporter.getFinishedSpans().map(({ name }) => name);
        make(left);
        for (let turn = 0; turn < 4; turn++) await new Promise((resolve) => setImmediate(resolve));
        console.log(JSON.stringify([answer, afterAsked, exporter.getFinishedSpans().length,
          Reflect.ownKeys(asked), Reflect.ownKeys(left)]));`,
      )
      .finally(() => compiled.remove());
    expect(JSON.parse(stdout)).toEqual(['rows', ['inner', 'outer'], 4, [], []]);
  }, 30_000);
});

describe('where the work and its callbacks run', () => {
  const active = (): string | undefined => trace.getActiveSpan()?.spanContext().spanId;

  it('I9: the work inside the span, the callbacks where then was called', async () => {
    await withSpan('caller', async (caller) => {
      const query = inSpan(() => new Query());
      const seen: unknown[] = [];
      await new Promise<void>((resolve) => {
        void query.then(() => {
          seen.push(active());
          resolve();
        });
      });
      expect(seen).toEqual([caller.spanContext().spanId]);
      expect(query.inside).not.toBe(caller);
      const failing = inSpan(() => new Query(undefined, new Error('no')));
      await failing.then(undefined, () => seen.push(active()));
      expect(seen[1]).toBe(caller.spanContext().spanId);
      await inSpan(() => new Query());
      expect(active()).toBe(caller.spanContext().spanId);
    });
  });

  it('I9: the callbacks of a promise of a subclass too', async () => {
    await withSpan('caller', async (caller) => {
      const seen = await inSpan(() => later(1)).then(active);
      expect(seen).toBe(caller.spanContext().spanId);
    });
  });
});

describe('an object that lets nothing be put on it', () => {
  const getter = vi.fn((): never => {
    throw new Error('not to be read');
  });
  const refusing: [string, () => object][] = [
    ['a frozen one', () => Object.freeze(new Query())],
    ['a sealed one', () => Object.seal(new Query())],
    ['one that takes no more members', () => Object.preventExtensions(new Query())],
    ['one whose own then is fixed', () => Object.defineProperty({}, 'then', { value: () => undefined })],
    [
      'one whose own then is a getter',
      () => Object.defineProperty({}, 'then', { get: getter, configurable: true }),
    ],
    [
      'a proxy of one whose own then is a getter',
      () => new Proxy(Object.defineProperty({}, 'then', { get: getter, configurable: true }), {}),
    ],
    [
      'one whose class has a getter for it',
      () =>
        new (class {
          get then(): never {
            return getter();
          }
        })(),
    ],
    ['a frozen promise of a subclass', () => Object.freeze(Cancellable.resolve(1))],
    ['a proxy that refuses new members', () => new Proxy(new Query(), { defineProperty: () => false })],
    [
      'a proxy that throws for new members',
      () =>
        new Proxy(new Query(), {
          defineProperty: () => {
            throw new Error('refused');
          },
        }),
    ],
    [
      'a proxy that hides what is put on it',
      () =>
        new Proxy(new Query(), {
          getOwnPropertyDescriptor: () => undefined,
          get: (target, key) => (Object.getPrototypeOf(target) as Record<PropertyKey, unknown>)[key],
        }),
    ],
    [
      'a proxy that is its own prototype',
      () => {
        const proxy: object = new Proxy({}, { getPrototypeOf: () => proxy });
        return proxy;
      },
    ],
    ['a proxy that has no then', () => new Proxy({}, {})],
    ['a proxy that makes everything a function', () => new Proxy({}, { get: () => () => undefined })],
    [
      'a proxy of a function that makes everything a function',
      () => new Proxy(() => undefined, { get: () => () => undefined }),
    ],
  ];

  it.each(refusing)('I9, I14: %s is handed back as it is, and ends the span at return', (_kind, make) => {
    const thenable = make();
    const keys = Reflect.ownKeys(thenable);
    expect(
      Object.is(
        inSpan(() => thenable),
        thenable,
      ),
    ).toBe(true);
    expectOk();
    expect(Reflect.ownKeys(thenable)).toEqual(keys);
    expect(getter).not.toHaveBeenCalled();
  });

  it('I9: a proxy that refuses new members is not asked to delete any', () => {
    const deleteProperty = vi.fn(() => true);
    inSpan(() => new Proxy(new Query(), { defineProperty: () => false, deleteProperty }));
    expect(deleteProperty).not.toHaveBeenCalled();
    expectOk();
  });

  it('I9, I14: a proxy that refuses changes by the time it is asked answers all the same, each time', async () => {
    const query = new Query();
    const deleteProperty = vi.fn(() => {
      throw new Error('refused');
    });
    const proxy = inSpan(() => new Proxy(query, { deleteProperty }));
    expect([await proxy, query.inside !== undefined]).toEqual(['rows', true]);
    expect([await proxy, query.inside]).toEqual(['rows', undefined]);
    expect(deleteProperty).toHaveBeenCalledTimes(1);
    expectOk();
  });

  it('I9: one whose class lets nothing be changed is covered', async () => {
    class Fixed extends Query {
      override then(onFulfilled?: Callback, onRejected?: Callback): Promise<unknown> {
        return super.then(onFulfilled, onRejected);
      }
    }
    Object.freeze(Fixed.prototype);
    const query = inSpan(() => new Fixed());
    expect(await query).toBe('rows');
    expect(spanId(spans.single('work'))).toBe(query.inside?.spanContext().spanId);
    expectNoTrace(query);
  });

  it('I9: a proxy that binds the then of its target leaves the target its own', async () => {
    const target = { then: (resolve: Callback): void => void resolve('rows') };
    const { then } = target;
    const proxy = new Proxy(target, {
      get: (of, key) => (Reflect.get(of, key) as () => unknown).bind(of),
    });
    expect(await inSpan(() => proxy)).toBe('rows');
    expect(target.then).toBe(then);
    expectOk();
  });

  it("I9: a proxy that describes its then without a value, as Prisma's do, can be awaited again", async () => {
    const put = new Map<PropertyKey, unknown>();
    const proxy = new Proxy({} as PromiseLike<unknown>, {
      get: (_target, key) =>
        put.has(key) ? put.get(key) : key === 'then' ? (resolve: Callback) => resolve('rows') : undefined,
      getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true, writable: true }),
      defineProperty: (_target, key, { value }) => {
        put.set(key, value);
        return true;
      },
    });
    expect(await inSpan(() => proxy)).toBe('rows');
    expectOk();
    expect(await proxy).toBe('rows');
  });

  it('I9: a proxy that hands methods out bound is covered', async () => {
    const target = new Query();
    const proxy = new Proxy(target, {
      get(of, key) {
        const value: unknown = Reflect.get(of, key);
        return typeof value === 'function' ? (value.bind(of) as unknown) : value;
      },
    });
    expect(await inSpan(() => proxy)).toBe('rows');
    expect([target.runs, target.inside?.spanContext().spanId]).toEqual([1, spanId(spans.single('work'))]);
    expectNoTrace(target);
    expectOk();
  });

  it('I9: a proxy of a promise is handed back as it is, and covered', async () => {
    const promise = Promise.resolve(7);
    const proxy = new Proxy(promise, {
      get(target, key) {
        const value: unknown = Reflect.get(target, key);
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    });
    const got = inSpan(() => proxy);
    expect(Object.is(got, proxy)).toBe(true);
    expect(await got).toBe(7);
    expectNoTrace(promise);
    expectOk();
  });

  it('I9: one that is frozen while it waits still answers, and once', async () => {
    const query = inSpan(() => new Query());
    Object.freeze(Object.defineProperty(query, 'runs', { value: 0, writable: true }));
    const own = { runs: 0 };
    const frozen = inSpan(() => ({
      own,
      then(resolve: Callback) {
        own.runs++;
        resolve('rows');
      },
    }));
    Object.freeze(frozen);
    expect(await frozen).toBe('rows');
    expect(await frozen).toBe('rows');
    expect(own.runs).toBe(2);
    await macrotask();
    await macrotask();
    expect(spans.openCount()).toBe(0);
  });

  it('I9: a then that somebody else puts on it while it waits is left alone', async () => {
    const query = inSpan(() => new Query());
    const then = (resolve: Callback): void => void resolve('patched');
    (query as { then: unknown }).then = then;
    await macrotask();
    await macrotask();
    expect(query.then).toBe(then);
    expect(await query).toBe('patched');
    expectOk();
  });

  it('I9: a then that was taken off it before the span had ended works afterwards', async () => {
    const query = inSpan(() => new Query());
    const { then } = query;
    await macrotask();
    await macrotask();
    expect(await new Promise((resolve) => void then.call(query, resolve))).toBe('rows');
    expect(query.inside).toBeUndefined();
    expectOk();
  });
});
