import { createHook } from 'node:async_hooks';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { types } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import vm from 'node:vm';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { context, createContextKey, type Span, SpanStatusCode, trace } from '@opentelemetry/api';
import {
  BehaviorSubject,
  concat,
  defer,
  firstValueFrom,
  from,
  interval,
  isObservable,
  lastValueFrom,
  map,
  mergeMap,
  NEVER,
  Observable,
  of,
  ReplaySubject,
  retry,
  Subject,
  take,
  tap,
  throwError,
  timer,
  toArray,
} from 'rxjs';
import { managedSpan, setEnabledSpanGroups, traceFn, withSpan } from 'nest-lens/core';
import {
  captureSpans,
  type CapturedSpans,
  exceptions,
  parentId,
  spanId,
} from '../../support/capture-spans.js';

let spans: CapturedSpans;
beforeEach(() => {
  spans = captureSpans();
  setEnabledSpanGroups(['orders']);
});

/** Runs a body in the span `work` of a group that is on. */
const inSpan = <T>(body: (span: Span | undefined) => T): T => managedSpan('orders', 'work', body);
const macrotask = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Waits until no span is open; a bound keeps a span that never ends from hanging the run. */
async function untilNoneOpen(): Promise<void> {
  for (let round = 0; round < 50 && spans.openCount() > 0; round++) await macrotask();
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (vm.runInNewContext('gc') as () => void)();
}

function expectOk(name = 'work'): void {
  const span = spans.single(name);
  expect(span.status).toEqual({ code: SpanStatusCode.UNSET });
  expect(span.attributes).not.toHaveProperty('nestlens.cancelled');
  expect(span.events).toEqual([]);
  expect(spans.openCount()).toBe(0);
}

function expectError(message: string, name = 'work'): void {
  const span = spans.single(name);
  expect(span.status).toEqual({ code: SpanStatusCode.ERROR, message });
  expect(exceptions(span)).toHaveLength(1);
  expect(span.attributes).not.toHaveProperty('nestlens.cancelled');
  expect(spans.openCount()).toBe(0);
}

function expectCancelled(name = 'work'): void {
  const span = spans.single(name);
  expect(span.status).toEqual({ code: SpanStatusCode.UNSET });
  expect(span.attributes).toMatchObject({ 'nestlens.cancelled': true });
  expect(span.events).toEqual([]);
  expect(spans.openCount()).toBe(0);
}

describe('a promise', () => {
  it('I9: the span lasts until it resolves', async () => {
    let resolve: (value: object) => void = () => undefined;
    const value = {};
    const promise = inSpan(() => new Promise<object>((res) => (resolve = res)));
    await macrotask();
    expect(spans.openCount()).toBe(1);
    resolve(value);
    expect(await promise).toBe(value);
    expectOk();
  });

  it('I9: the span lasts until it rejects, with the same reason', async () => {
    const reason = new Error('too late');
    const promise = inSpan(async () => {
      await macrotask();
      throw reason;
    });
    expect(spans.openCount()).toBe(1);
    await expect(promise).rejects.toBe(reason);
    expectError('too late');
  });

  it('I9: a handled rejection causes no unhandled one beside it', async () => {
    const rejections: unknown[] = [];
    const onRejection = (reason: unknown): void => void rejections.push(reason);
    process.on('unhandledRejection', onRejection);
    await inSpan(() => Promise.reject(new Error('handled'))).catch(() => undefined);
    await macrotask();
    await new Promise((resolve) => setTimeout(resolve, 1));
    process.off('unhandledRejection', onRejection);
    expect(rejections).toEqual([]);
  });

  it('I9: what hangs on the promise goes along, values and accessors', async () => {
    let cancelled = 0;
    const body = (): Promise<number> & { cancel(): number; state?: string } =>
      Object.defineProperty(Object.assign(Promise.resolve(1), { cancel: () => ++cancelled }), 'state', {
        get: () => 'waiting',
        enumerable: true,
      });
    const promise = inSpan(body);
    expect([promise.cancel(), cancelled, promise.state]).toEqual([1, 1, 'waiting']);
    expect(await promise).toBe(1);
    expectOk();
  });

  it('I9: a promise that is settled already', async () => {
    expect(await inSpan(() => Promise.resolve('now'))).toBe('now');
    expectOk();
  });
});

/** A class that can be iterated by hand, as database drivers have it; its state is private. */
class Cursor {
  #rows = [1, 2];
  next(): Promise<IteratorResult<number>> {
    const value = this.#rows.shift();
    return Promise.resolve(value === undefined ? { done: true, value } : { done: false, value });
  }
  return(): Promise<IteratorResult<number>> {
    this.#rows = [];
    return this.next();
  }
  throw(error: unknown): Promise<IteratorResult<number>> {
    return Promise.reject(error instanceof Error ? error : new Error(String(error)));
  }
  [Symbol.asyncIterator](): this {
    return this;
  }
  get left(): number {
    return this.#rows.length;
  }
}

/** A stream that is its own iterator, as clients of language models have it. */
class IterableStream extends ReadableStream<number> {
  next = (): Promise<IteratorResult<number>> => Promise.resolve({ done: true, value: undefined });
  return = this.next;
  throw = this.next;
  override [Symbol.asyncIterator](): never {
    return this as never;
  }
}

describe('an object that is no work in progress', () => {
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  const throwing = (): never => {
    throw new Error('do not touch');
  };

  it.each<[string, () => unknown]>([
    ['a plain object', () => ({ id: 1 })],
    ['a frozen object', () => Object.freeze({})],
    ['null', () => null],
    ['undefined', () => undefined],
    ['a symbol', () => Symbol.for('result')],
    ['a function', () => () => 1],
    ['an array of promises', () => [Promise.resolve(1)]],
    ['a Readable', () => Readable.from(['a', 'b'])],
    ['a web stream', () => new ReadableStream()],
    ['an array iterator', () => [1, 2][Symbol.iterator]()],
    [
      'a sync generator',
      () =>
        (function* () {
          yield 1;
        })(),
    ],
    ['an async iterable that is no generator', () => ({ [Symbol.asyncIterator]: throwing })],
    ['an object with a subscribe of its own', () => ({ subscribe: throwing })],
    [
      'an object with subscribe and lift that is no observable',
      () => ({ subscribe: throwing, lift: throwing }),
    ],
    [
      'an object of a class with subscribe, pipe and lift that is no observable',
      () => {
        class Stream {
          constructor(public readonly source: string) {
            if (typeof source !== 'string') throw new TypeError('a source is needed');
          }
          subscribe = throwing;
          lift(): never {
            return throwing();
          }
          pipe(): never {
            return throwing();
          }
        }
        Object.assign(Stream.prototype, { subscribe: throwing, forEach: throwing });
        return new Stream('made');
      },
    ],
    [
      'an object that has every member of an observable and is none',
      () => {
        class Stream {
          constructor(public readonly source: string) {
            if (typeof source !== 'string') throw new TypeError('a source is needed');
          }
        }
        const members = ['subscribe', 'lift', 'pipe', 'forEach', 'toPromise', '@@observable'];
        Object.assign(Stream.prototype, Object.fromEntries(members.map((member) => [member, throwing])));
        return new Stream('made');
      },
    ],
    ['a cursor with the methods of a generator', () => new Cursor()],
    ['a web stream with the methods of a generator', () => new IterableStream()],
    ['an event emitter', () => ({ on: throwing, once: throwing })],
    ['an object without a prototype', () => Object.create(null) as object],
    ['an object whose then throws', () => Object.defineProperty({}, 'then', { get: throwing })],
    ['an object whose subscribe throws', () => Object.defineProperty({}, 'subscribe', { get: throwing })],
    [
      'an object whose lift throws',
      () => Object.defineProperty({ subscribe: () => 1 }, 'lift', { get: throwing }),
    ],
    [
      'an object whose async iterator throws',
      () => Object.defineProperty({}, Symbol.asyncIterator, { get: throwing }),
    ],
    [
      'a proxy that throws at any look',
      () => new Proxy({}, { get: throwing, has: throwing, getPrototypeOf: throwing, ownKeys: throwing }),
    ],
    ['a revoked proxy', () => revoked.proxy],
  ])('I9: %s is handed back untouched, and ends the span at return', (_kind, make) => {
    const result = make();
    // Object.is by hand: a failing matcher would print the result, which some of these don't survive.
    expect(
      Object.is(
        inSpan(() => result),
        result,
      ),
    ).toBe(true);
    expectOk();
  });

  it("I9: a lazy thenable in a promise is the promise's own business: its then is called once", async () => {
    const then = vi.fn((resolve: (value: number) => void) => resolve(3));
    const result = await inSpan(() => Promise.resolve({ then } as unknown as PromiseLike<number>));
    expect([result, then.mock.calls.length]).toEqual([3, 1]);
    expectOk();
  });

  it('I9: a cursor keeps its state and its other members', async () => {
    const cursor = inSpan(() => new Cursor());
    expect([cursor.left, (await cursor.next()).value, cursor.left]).toEqual([2, 1, 1]);
    expectOk();
  });

  it('I9: a Readable can still be read to its end, and destroyed', async () => {
    const chunks: string[] = [];
    for await (const chunk of inSpan(() => Readable.from(['a', 'b']))) chunks.push(chunk as string);
    expect(chunks).toEqual(['a', 'b']);
    expectOk();
  });
});

describe('an observable', () => {
  it.each<[string, () => Observable<number>, number[]]>([
    ['of', () => of(1, 2, 3), [1, 2, 3]],
    ['an async source', () => timer(1).pipe(map(() => 5)), [5]],
    ['an empty one', () => of(), []],
    ['a deferred one', () => defer(() => Promise.resolve(4)), [4]],
    ['operators in the body', () => of(1, 2).pipe(map((value) => value * 10)), [10, 20]],
  ])('I9: %s: the same values, one span, ended at completion', async (_kind, make, expected) => {
    const result = inSpan(() => make());
    expect(isObservable(result)).toBe(true);
    expect(spans.openCount()).toBe(1);
    expect(await lastValueFrom(result.pipe(toArray()))).toEqual(expected);
    expectOk();
  });

  it('I9: the span is not ended by a value, only by completion', async () => {
    const source = new Subject<number>();
    const seen: unknown[] = [];
    inSpan(() => source.asObservable()).subscribe({
      next: (value) => seen.push(value),
      complete: () => seen.push('end'),
    });
    source.next(1);
    await macrotask();
    source.next(2);
    await macrotask();
    expect([seen, spans.openCount()]).toEqual([[1, 2], 1]);
    source.complete();
    expect(seen).toEqual([1, 2, 'end']);
    expectOk();
  });

  it('I9: an error after values: the values, the same error, one exception, ERROR', async () => {
    const error = new Error('late');
    const seen: unknown[] = [];
    inSpan(() =>
      concat(
        of(1),
        of(2),
        throwError(() => error),
      ),
    ).subscribe({
      next: (value) => seen.push(value),
      error: (reason) => seen.push(reason),
    });
    expect(seen).toEqual([1, 2, error]);
    expect(seen[2]).toBe(error);
    expectError('late');
  });

  it('I9: a source whose subscribe function throws is an error of the observable', () => {
    const error = new Error('in subscribe');
    const seen: unknown[] = [];
    inSpan(
      () =>
        new Observable(() => {
          throw error;
        }),
    ).subscribe({ error: (reason) => seen.push(reason) });
    expect(seen).toEqual([error]);
    expectError('in subscribe');
  });

  it('I9: unsubscribing from one that never ends cancels the span and tears the source down', async () => {
    let tornDown = 0;
    const subscription = inSpan(() => new Observable(() => () => tornDown++)).subscribe();
    await macrotask();
    await macrotask();
    expect(spans.openCount()).toBe(1);
    subscription.unsubscribe();
    subscription.unsubscribe();
    expect(tornDown).toBe(1);
    expectCancelled();
  });

  it('I9: unsubscribing after completion changes nothing', () => {
    const subscription = inSpan(() => of(1)).subscribe();
    subscription.unsubscribe();
    expectOk();
  });

  it('I9: one that nobody subscribed by the next macrotask ends its span then, without a mark: it may be hot', async () => {
    const subscribed = vi.fn(() => undefined);
    inSpan(() => new Observable(subscribed));
    expect(spans.openCount()).toBe(1);
    await macrotask();
    await macrotask();
    expect(subscribed).not.toHaveBeenCalled();
    expectOk();
  });

  it('I9: one that is subscribed within microtasks has its first span', async () => {
    const result = inSpan(() => of(1));
    await Promise.resolve().then(() => Promise.resolve());
    expect(await lastValueFrom(result)).toBe(1);
    expectOk();
  });

  it('I9: one that is subscribed later makes a span of its own', async () => {
    const result = inSpan(() => of(1));
    await macrotask();
    await macrotask();
    expect(spans.all()).toHaveLength(1);
    expect(await lastValueFrom(result)).toBe(1);
    for (const span of spans.named('work')) expect(span.attributes).toEqual({ 'nestlens.group': 'orders' });
    expect(spans.named('work')).toHaveLength(2);
    expect(spans.openCount()).toBe(0);
  });

  it('I9: each further subscription is a span of its own', async () => {
    const source = new Subject<number>();
    const result = inSpan(() => source.asObservable());
    const first = result.subscribe();
    const second = result.subscribe();
    expect(spans.openCount()).toBe(2);
    first.unsubscribe();
    expect(spans.openCount()).toBe(1);
    source.complete();
    second.unsubscribe();
    expect(spans.named('work').map((span) => span.attributes['nestlens.cancelled'])).toEqual([
      true,
      undefined,
    ]);
    expect(spans.openCount()).toBe(0);
  });

  it('I9: take(1) on an infinite synchronous source comes to its end', () => {
    let produced = 0;
    const infinite = new Observable<number>((subscriber) => {
      while (!subscriber.closed && produced < 1_000) subscriber.next(produced++);
    });
    const seen: number[] = [];
    inSpan(() => infinite)
      .pipe(take(1))
      .subscribe((value) => seen.push(value));
    expect([seen, produced]).toEqual([[0], 1]);
    expectCancelled();
  });

  it('I9: firstValueFrom on one that goes on cancels the span', async () => {
    expect(await firstValueFrom(inSpan(() => interval(1)))).toBe(0);
    expectCancelled();
  });

  it('I9: from, Symbol.observable and forEach read the same', async () => {
    expect(await lastValueFrom(from(inSpan(() => of(1, 2))))).toBe(2);
    const seen: number[] = [];
    await inSpan(() => of(1, 2)).forEach((value) => seen.push(value));
    expect(seen).toEqual([1, 2]);
    expect(spans.named('work').map((span) => span.attributes['nestlens.cancelled'])).toEqual([
      undefined,
      undefined,
    ]);
    expect(spans.openCount()).toBe(0);
  });

  it('I9: a subject handed on is still usable as a subject', () => {
    const subject = inSpan(() => new Subject<number>());
    const seen: unknown[] = [];
    const subscription = subject.subscribe({
      next: (value) => seen.push(value),
      complete: () => seen.push('end'),
    });
    expect(subject).toBeInstanceOf(Subject);
    expect(subject.observed).toBe(true);
    subject.next(1);
    subject.next(2);
    expect(spans.openCount()).toBe(1);
    subject.complete();
    expect([seen, subscription.closed]).toEqual([[1, 2, 'end'], true]);
    expectOk();
  });

  it('I9: a behaviour subject and a replay subject keep what they remember', async () => {
    const behaviour = inSpan(() => new BehaviorSubject('first'));
    behaviour.next('second');
    expect([behaviour.value, behaviour.getValue()]).toEqual(['second', 'second']);
    expect(await firstValueFrom(behaviour)).toBe('second');
    const replay = inSpan(() => new ReplaySubject<number>());
    replay.next(1);
    replay.next(2);
    replay.complete();
    expect(await lastValueFrom(replay.pipe(toArray()))).toEqual([1, 2]);
    expect(spans.openCount()).toBe(0);
  });

  it('I9: a subject fed by another observable passes everything on', () => {
    const subject = inSpan(() => new Subject<number>());
    const seen: unknown[] = [];
    subject.pipe(map((value) => value * 2)).subscribe((value) => seen.push(value));
    of(1, 2).subscribe(subject);
    expect(seen).toEqual([2, 4]);
    expectOk();
  });

  it('I9: an observable of a class with private state keeps its methods', async () => {
    class Cart extends Observable<number> {
      #total = 0;
      add(price: number): number {
        return (this.#total += price);
      }
    }
    const cart = inSpan(() => new Cart((subscriber) => subscriber.complete()));
    expect([cart.add(2), cart.add(3)]).toEqual([2, 5]);
    expect(await lastValueFrom(cart, { defaultValue: 'none' })).toBe('none');
    expectOk();
  });

  it('I9: what is set on a subject reaches it, also through its setters', () => {
    class Cart extends Subject<number> {
      #total = 0;
      note = '';
      get total(): number {
        return this.#total;
      }
      set total(total: number) {
        this.#total = total;
        this.next(total);
      }
    }
    const original = new Cart();
    const cart = inSpan(() => original);
    expect(cart).not.toBe(original);
    const seen: number[] = [];
    cart.subscribe((total) => seen.push(total));
    cart.total = 7;
    cart.note = 'a gift';
    expect([original.total, original.note, cart.note, seen]).toEqual([7, 'a gift', 'a gift', [7]]);
    cart.complete();
    expectOk();
  });

  it('I9: an observable that passes through two spans is covered by both', async () => {
    const result = managedSpan('orders', 'outer', () => managedSpan('orders', 'inner', () => of(1)));
    expect(await lastValueFrom(result)).toBe(1);
    expectOk('outer');
    expectOk('inner');
    expect(parentId(spans.single('inner'))).toBe(spanId(spans.single('outer')));
  });

  it('I9: one that passes through two spans and takes its time is covered by both', async () => {
    const twice = <T>(source: Observable<T>): Observable<T> =>
      managedSpan('orders', 'outer', () => managedSpan('orders', 'inner', () => source));
    expect(await lastValueFrom(twice(timer(1).pipe(map(() => 'late'))))).toBe('late');
    expect(spans.names()).toEqual(['inner', 'outer']);
    const torn = vi.fn();
    twice(new Observable(() => torn))
      .subscribe()
      .unsubscribe();
    expect([torn.mock.calls.length, spans.openCount()]).toEqual([1, 0]);
    expect(spans.all().map(({ attributes }) => attributes['nestlens.cancelled'])).toEqual([
      undefined,
      undefined,
      true,
      true,
    ]);
  });

  it('I9: a subject that passes through two spans is covered by both', () => {
    const subject = new Subject<number>();
    const seen: number[] = [];
    managedSpan('orders', 'outer', () => managedSpan('orders', 'inner', () => subject)).subscribe((value) => {
      seen.push(value, spans.openCount());
    });
    subject.next(1);
    subject.complete();
    expect(seen).toEqual([1, 2]);
    expectOk('outer');
    expectOk('inner');
  });

  it('I9: a plain one is handed on as a plain one, with no proxy in front', () => {
    expect(types.isProxy(inSpan(() => of(1).pipe(map((value) => value))))).toBe(false);
  });

  it('I9: one that is subscribed again while the group is off gives its values without a span', () => {
    const torn = vi.fn();
    const result = inSpan(() => concat(of(1), new Observable<number>(() => torn)));
    const seen: number[] = [];
    result.subscribe((value) => seen.push(value)).unsubscribe();
    setEnabledSpanGroups([]);
    const again = result.subscribe((value) => seen.push(value));
    expect(spans.openCount()).toBe(0);
    again.unsubscribe();
    expect([seen, torn.mock.calls.length, spans.names()]).toEqual([[1, 1], 2, ['work']]);
  });

  it('I9: one that refuses its subscriber ends its span with that error', async () => {
    class Refusing extends Observable<number> {
      override subscribe(): never {
        throw new Error('refused');
      }
    }
    await expect(lastValueFrom(inSpan(() => new Refusing()))).rejects.toThrow('refused');
    expectError('refused');
  });

  it('I9: every teardown of the source runs, also when one of them throws', () => {
    const ran: string[] = [];
    const subscription = inSpan(
      () =>
        new Observable((subscriber) => {
          subscriber.add(() => {
            throw new Error('first teardown');
          });
          subscriber.add(() => ran.push('second'));
          return () => ran.push('third');
        }),
    ).subscribe();
    expect(() => subscription.unsubscribe()).toThrow('first teardown');
    expect(ran).toEqual(['second', 'third']);
    expectCancelled();
  });

  it('I9: a long stream holds on to nothing that is over', async () => {
    const source = new Subject<number>();
    const inner: WeakRef<object>[] = [];
    const subscription = inSpan(() =>
      source.pipe(
        mergeMap(
          (value) =>
            new Observable<number>((subscriber) => {
              inner.push(new WeakRef(subscriber));
              subscriber.next(value);
              subscriber.complete();
            }),
        ),
      ),
    ).subscribe();
    for (let value = 0; value < 200; value++) source.next(value);
    await macrotask();
    collectGarbage();
    expect(inner).toHaveLength(200);
    // The last one may still be on the stack of the engine.
    expect(inner.filter((subscriber) => subscriber.deref() !== undefined).length).toBeLessThan(5);
    subscription.unsubscribe();
    expectCancelled();
  });

  it('I9: an observer that throws does not leave the span open', async () => {
    const handler = vi.fn();
    const { config } = await import('rxjs');
    config.onUnhandledError = handler;
    inSpan(() => of(1)).subscribe(() => {
      throw new Error('in the observer');
    });
    await new Promise((resolve) => setTimeout(resolve, 2));
    config.onUnhandledError = null;
    expect(handler).toHaveBeenCalledTimes(1);
    await untilNoneOpen();
    expect(spans.openCount()).toBe(0);
  });
});

describe('an async generator', () => {
  async function* counting(): AsyncGenerator<number, string, unknown> {
    yield 1;
    await macrotask();
    yield 2;
    return 'done';
  }

  it('I9: the span ends when it is exhausted, not before', async () => {
    const generator = inSpan(() => counting());
    const open: number[] = [];
    const seen: number[] = [];
    for await (const value of generator) {
      seen.push(value);
      open.push(spans.openCount());
    }
    expect([seen, open]).toEqual([
      [1, 2],
      [1, 1],
    ]);
    expectOk();
  });

  it('I9: it is still a generator: results, sent values, and its methods', async () => {
    const echo = inSpan(() =>
      (async function* (): AsyncGenerator<string, string, string> {
        let got = yield 'ready';
        for (;;) {
          if (got === 'stop') return 'stopped';
          got = yield `got ${got}`;
        }
      })(),
    );
    expect(echo[Symbol.asyncIterator]()).toBe(echo);
    expect(await echo.next('ignored')).toEqual({ value: 'ready', done: false });
    expect(await echo.next('a')).toEqual({ value: 'got a', done: false });
    expect(await echo.next('stop')).toEqual({ value: 'stopped', done: true });
    expect(await echo.next('after')).toEqual({ value: undefined, done: true });
    expectOk();
  });

  it('I9: leaving the loop early ends the span as cancelled, after the finally block', async () => {
    const cleanedUp = vi.fn(() => spans.openCount());
    const generator = inSpan(() =>
      (async function* () {
        try {
          yield 1;
          yield 2;
        } finally {
          cleanedUp();
        }
      })(),
    );
    for await (const _value of generator) break;
    expect(cleanedUp.mock.results.map((result) => result.value)).toEqual([1]);
    expectCancelled();
  });

  it('I9: return ends the span as cancelled, and hands its value back', async () => {
    const generator = inSpan(() => counting());
    await generator.next();
    expect(await generator.return('early')).toEqual({ value: 'early', done: true });
    expectCancelled();
  });

  it('I9: return before the first value ends it too', async () => {
    expect(await inSpan(() => counting()).return('never begun')).toEqual({
      value: 'never begun',
      done: true,
    });
    expectCancelled();
  });

  it('I9: return after exhaustion changes nothing', async () => {
    const generator = inSpan(() => counting());
    for await (const _value of generator) continue;
    await generator.return('again');
    expectOk();
  });

  it('I9: an error from inside is recorded and goes on unchanged', async () => {
    const error = new Error('in the generator');
    const generator = inSpan(() =>
      (async function* () {
        yield 1;
        throw error;
      })(),
    );
    await generator.next();
    await expect(generator.next()).rejects.toBe(error);
    expectError('in the generator');
  });

  it('I9: thrown into, the span ends with that error', async () => {
    const error = new Error('thrown in');
    const generator = inSpan(() => counting());
    await generator.next();
    await expect(generator.throw(error)).rejects.toBe(error);
    expectError('thrown in');
  });

  it('I9: one that handles what is thrown into it goes on', async () => {
    const generator = inSpan(() =>
      (async function* () {
        try {
          yield 1;
        } catch {
          yield 2;
        }
      })(),
    );
    await generator.next();
    expect(await generator.throw(new Error('handled'))).toEqual({ value: 2, done: false });
    expect(spans.openCount()).toBe(1);
    expect((await generator.next()).done).toBe(true);
    expectOk();
  });

  it('I9: one that ends when something is thrown into it ends its span', async () => {
    const generator = inSpan(() =>
      (async function* () {
        try {
          yield 1;
        } catch {
          return 'handled';
        }
      })(),
    );
    await generator.next();
    expect(await generator.throw(new Error('thrown in'))).toEqual({ value: 'handled', done: true });
    expectOk();
  });

  it('I9: return during a step that never ends ends the span as cancelled', async () => {
    const generator = inSpan(() =>
      (async function* () {
        yield 1;
        await new Promise(() => undefined);
      })(),
    );
    await generator.next();
    void generator.next();
    void generator.return(undefined);
    for (let round = 0; round < 100 && spans.openCount() > 0; round++) await delay(10);
    expectCancelled();
  });

  it('I9: after return the span lasts as long as the finally block', async () => {
    let openAtLast: number | undefined;
    const generator = inSpan(() =>
      (async function* () {
        try {
          yield 1;
        } finally {
          await delay(100);
          openAtLast = spans.openCount();
        }
      })(),
    );
    for await (const _value of generator) break;
    expect(openAtLast).toBe(1);
    expectCancelled();
  });

  it('I9: its methods can be replaced and defined anew', async () => {
    const generator = inSpan(() => counting());
    const { next } = generator;
    generator.next = () => next();
    Object.defineProperty(generator, 'return', { get: () => undefined });
    for await (const _value of generator) continue;
    expectOk();
  });
});

describe('an async generator that nobody finishes', () => {
  it('I9: its span ends as cancelled when it is collected', async () => {
    const begin = (name: string): AsyncGenerator =>
      managedSpan('orders', name, async function* () {
        yield 1;
        yield 2;
      });
    const kept = begin('kept');
    await kept.next();
    await (async () => void (await begin('left').next()))();
    for (let round = 0; round < 100 && spans.all().length === 0; round++) {
      await delay(1);
      collectGarbage();
    }
    expect([spans.names(), spans.openCount()]).toEqual([['left'], 1]);
    await kept.return(undefined);
    expectCancelled('left');
  });
});

describe('a generator in a generator', () => {
  it('I9: one that passes through two spans is covered by both', async () => {
    const generator = managedSpan('orders', 'outer', () =>
      managedSpan('orders', 'inner', async function* () {
        yield 1;
        await macrotask();
        yield 2;
      }),
    );
    const seen: number[] = [];
    for await (const value of generator) {
      seen.push(value);
      expect(spans.openCount()).toBe(2);
    }
    expect(seen).toEqual([1, 2]);
    expectOk('outer');
    expectOk('inner');
    expect(parentId(spans.single('inner'))).toBe(spanId(spans.single('outer')));
  });

  it('I9: one compiled for an older target, a plain object with those methods, is a generator', async () => {
    const steps = [1, 2];
    const compiled = {
      next: () =>
        Promise.resolve(
          steps.length > 0 ? { done: false, value: steps.shift() } : { done: true, value: undefined },
        ),
      return: (value: unknown) => Promise.resolve({ done: true, value }),
      throw: (error: Error) => Promise.reject(error),
      [Symbol.asyncIterator]() {
        return this;
      },
    };
    const seen: unknown[] = [];
    for await (const value of inSpan(() => compiled as unknown as AsyncGenerator)) {
      seen.push(value);
      expect(spans.openCount()).toBe(1);
    }
    expect(seen).toEqual([1, 2]);
    expectOk();
  });
});

describe('what somebody hung on a result', () => {
  it('I9: goes along with an async generator', async () => {
    const cancel = (): string => 'cancelled';
    const source = Object.assign(
      (async function* () {
        yield 1;
      })(),
      { cancel },
    );
    const result = inSpan(() => source);
    expect(result.cancel).toBe(cancel);
    const values: number[] = [];
    for await (const value of result) values.push(value);
    expect(values).toEqual([1]);
    expectOk();
  });

  it('I9: goes along with a promise, also where it shows in no loop', async () => {
    const source = Promise.resolve(7);
    void Object.defineProperty(source, 'abort', { value: () => 'aborted' });
    const result = inSpan(() => source) as Promise<number> & { abort(): string };
    expect(result.abort()).toBe('aborted');
    expect(await result).toBe(7);
    expectOk();
  });

  it.each([Symbol('own'), Symbol.for('app.lease'), Symbol.dispose, Symbol.asyncIterator])(
    'I9: goes along with a promise, where it has only a symbol for a name: %s',
    async (key) => {
      const member = (): string => 'called';
      const source = Object.assign(Promise.resolve(7), { [key]: member });
      const result = inSpan(() => source) as unknown as Record<symbol, unknown>;
      expect(result[key]).toBe(member);
      expect(await (result as unknown as Promise<number>)).toBe(7);
      expectOk();
    },
  );

  it('I9: does not go along with a promise, where Node keeps it: each has an id of its own', async () => {
    const ids = new WeakMap<object, number>();
    const parents = new WeakMap<object, number>();
    const hook = createHook({
      init(id, _type, parent, resource) {
        ids.set(resource, id);
        parents.set(resource, parent);
      },
    }).enable();
    onTestFinished(() => void hook.disable());
    const source = Promise.resolve(7);
    const result = inSpan(() => source);
    const after = result.then((value) => value + 1);
    expect(ids.get(result)).not.toBe(ids.get(source));
    expect(parents.get(after)).toBe(ids.get(result));
    expect(await after).toBe(8);
  });

  it('I9: an object that iterates and has members of its own besides is handed back as it is', () => {
    const queue = {
      push: () => undefined,
      next: () => Promise.resolve({ done: true, value: undefined }),
      return: () => Promise.resolve({ done: true, value: undefined }),
      throw: (error: Error) => Promise.reject(error),
      [Symbol.asyncIterator]() {
        return this;
      },
    };
    expect(inSpan(() => queue)).toBe(queue);
    expectOk();
  });
});

describe('a promise of work', () => {
  it('I9: of an observable is one piece of work', async () => {
    const result = await inSpan(async () => {
      await macrotask();
      return of(1, 2);
    });
    expect(spans.openCount()).toBe(1);
    expect(await lastValueFrom(result)).toBe(2);
    expectOk();
  });

  it('I9: of an observable that nobody subscribes ends without a mark', async () => {
    await inSpan(() => Promise.resolve(NEVER));
    await macrotask();
    await macrotask();
    expectOk();
  });

  it('I9: of an async generator is one piece of work', async () => {
    const generator = await inSpan(() =>
      Promise.resolve(
        (async function* () {
          yield 1;
          yield 2;
        })(),
      ),
    );
    const seen: number[] = [];
    for await (const value of generator) {
      seen.push(value);
      expect(spans.openCount()).toBe(1);
    }
    expect(seen).toEqual([1, 2]);
    expectOk();
  });

  it('I9: of a Readable or any other object ends with the promise', async () => {
    const readable = Readable.from(['a']);
    expect(await inSpan(() => Promise.resolve(readable))).toBe(readable);
    expectOk();
  });
});

describe('the active span inside the work', () => {
  let inside: (Span | undefined)[] = [];
  let own: Span | undefined;
  beforeEach(() => {
    inside = [];
    own = undefined;
  });
  const note = (): void => void inside.push(trace.getActiveSpan());
  /** The body notes the active span wherever it calls `note`; every note must be the span of the work. */
  function expectInside(count: number): void {
    expect(inside).toHaveLength(count);
    for (const span of inside) expect(span).toBe(own);
    expect(own).toBeDefined();
  }

  it('I9: before and after an await, in timers and in microtasks', async () => {
    await inSpan(async (span) => {
      own = span;
      note();
      await macrotask();
      note();
      await new Promise<void>((resolve) => setTimeout(() => resolve(note()), 1));
      await Promise.resolve().then(note);
      queueMicrotask(note);
      process.nextTick(note);
      await macrotask();
    });
    expectInside(6);
  });

  it('I9: at the subscription of an observable and in its operators, its timers and its teardown', async () => {
    const result = inSpan((span) => {
      own = span;
      return new Observable<number>((subscriber) => {
        note();
        const handle = setTimeout(() => {
          note();
          subscriber.next(1);
          subscriber.complete();
        }, 1);
        return () => {
          note();
          clearTimeout(handle);
        };
      }).pipe(
        tap(note),
        map((value) => value + 1),
      );
    });
    expect(await lastValueFrom(result)).toBe(2);
    expectInside(4);
  });

  it('I9: in every step of an async generator, whoever asks for it', async () => {
    const key = createContextKey('caller');
    const generator = inSpan((span) => {
      own = span;
      return (async function* () {
        note();
        yield 1;
        note();
        await macrotask();
        note();
        try {
          yield 2;
        } finally {
          note();
        }
      })();
    });
    const elsewhere = context.active().setValue(key, 'elsewhere');
    await context.with(elsewhere, () => generator.next());
    await withSpan('another', () => generator.next());
    await generator.return(undefined);
    expectInside(4);
  });
});

describe('the active span outside the work', () => {
  const active = (): Span | undefined => trace.getActiveSpan();

  it('I9: is the one from before: after the call, after a throw, and after the result', async () => {
    await withSpan('outer', async (outer) => {
      const promise = inSpan(() => macrotask());
      expect(active()).toBe(outer);
      await promise;
      expect(active()).toBe(outer);
      expect(() =>
        inSpan(() => {
          throw new Error('no');
        }),
      ).toThrow('no');
      expect(active()).toBe(outer);
      const result = inSpan(() => of(1));
      expect(active()).toBe(outer);
      await lastValueFrom(result);
      expect(active()).toBe(outer);
    });
    expect(active()).toBeUndefined();
  });

  it('I9: is the outer one in what hangs on the promise', async () => {
    await withSpan('outer', async (outer) => {
      const seen = await inSpan(() => macrotask()).then(active);
      expect(seen).toBe(outer);
    });
  });

  it('I9: is the outer one in downstream operators and observers, for values, errors and completion', async () => {
    await withSpan('outer', async (outer) => {
      const seen: (Span | undefined)[] = [];
      const note = (): void => void seen.push(active());
      await lastValueFrom(
        inSpan(() => timer(1).pipe(map(() => 1))).pipe(tap({ next: note, complete: note, finalize: note })),
      );
      await lastValueFrom(inSpan(() => throwError(() => new Error('no'))).pipe(tap({ error: note }))).catch(
        note,
      );
      expect(seen).toHaveLength(5);
      for (const span of seen) expect(span).toBe(outer);
    });
  });

  it('I9: is the outer one for a value that comes from another trace', () => {
    const source = new Subject<number>();
    const seen: unknown[] = [];
    withSpan('outer', (outer) => {
      inSpan(() => source).subscribe(() => seen.push(active() === outer));
    });
    withSpan('of another request', () => source.next(1));
    source.complete();
    expect(seen).toEqual([true]);
  });

  it('I9: is that of the other trace for a value that comes from one, where there was none', () => {
    const source = new Subject<number>();
    const seen: unknown[] = [];
    inSpan(() => source).subscribe(() => seen.push(active()));
    const other = withSpan('of another request', (span) => {
      source.next(1);
      return span;
    });
    source.complete();
    expect(seen).toEqual([other]);
  });

  it("I9: is the subscriber's own, when it subscribes from elsewhere than the call", async () => {
    const caller = spans.tracer.startSpan('caller');
    const calling = trace.setSpan(context.active(), caller);
    const result = context.with(calling, () => inSpan(() => timer(1).pipe(map(() => 1))));
    caller.end();
    await withSpan('subscriber', async (subscriber) => {
      const seen: (Span | undefined)[] = [];
      const note = (): void => void seen.push(active());
      await lastValueFrom(result.pipe(tap({ next: note, complete: note })));
      expect(seen.map((span) => span === subscriber)).toEqual([true, true]);
    });
    expect(parentId(spans.single('work'))).toBe(spanId(spans.single('caller')));
  });

  it('I9: is none where there was none', async () => {
    const seen: unknown[] = ['unset'];
    await lastValueFrom(inSpan(() => timer(1)).pipe(tap(() => (seen[0] = active()))));
    expect(seen).toEqual([undefined]);
  });

  it('I9: retry subscribes outside: each attempt is a span of its own, side by side', async () => {
    let attempts = 0;
    const flaky = (): Observable<string> =>
      defer(() => (++attempts < 3 ? throwError(() => new Error(`attempt ${attempts}`)) : of('third')));
    const value = await withSpan('outer', () => lastValueFrom(inSpan(flaky).pipe(retry(5))));
    expect(value).toBe('third');
    const outer = spanId(spans.single('outer'));
    expect(spans.named('work').map((span) => [parentId(span), span.status.message])).toEqual([
      [outer, 'attempt 1'],
      [outer, 'attempt 2'],
      [outer, undefined],
    ]);
    expect(spans.openCount()).toBe(0);
  });

  it('I9: retry subscribes where nothing is traced, too, when the error comes in the trace of somebody else', async () => {
    let attempts = 0;
    const socket = spans.tracer.startSpan('socket');
    const flaky = (): Observable<string> =>
      new Observable((subscriber) => {
        setImmediate(() =>
          context.with(trace.setSpan(context.active(), socket), () => {
            if (++attempts < 3) subscriber.error(new Error(`attempt ${attempts}`));
            else subscriber.next('third');
            subscriber.complete();
          }),
        );
      });
    expect(await lastValueFrom(inSpan(flaky).pipe(retry(5)))).toBe('third');
    socket.end();
    expect(spans.named('work').map((span) => [parentId(span), span.status.message])).toEqual([
      [undefined, 'attempt 1'],
      [undefined, 'attempt 2'],
      [undefined, undefined],
    ]);
  });

  it("I9: is the caller's own in the body of a for await loop", async () => {
    await withSpan('outer', async (outer) => {
      const generator = inSpan(() =>
        (async function* () {
          yield 1;
          yield 2;
        })(),
      );
      for await (const _value of generator) expect(active()).toBe(outer);
      expect(active()).toBe(outer);
    });
  });
});

describe('any value can be thrown', () => {
  const throwingGetter = (): never => {
    throw new Error('getter');
  };
  const frozen = Object.freeze(new Error('frozen'));
  const unreadable = Object.defineProperty(new Error('x'), 'message', { get: throwingGetter });
  // The stack first: replacing it makes the engine read name and message once more.
  const allUnreadable = Object.defineProperties(new Error('x'), {
    stack: { get: throwingGetter },
    message: { get: throwingGetter },
    name: { get: throwingGetter },
    code: { get: throwingGetter },
  });
  const revoked = Proxy.revocable(new Error('x'), {});
  revoked.revoke();

  /** Kind, the value, the status message that it must give where the contract says one. */
  const values: [kind: string, thrown: unknown, message: string | undefined][] = (
    [
      ['an error', new Error('plain'), 'plain'],
      ['a subclass of error', new RangeError('range'), 'range'],
      ['an error without a message', new Error()],
      ['an error with a code', Object.assign(new Error('coded'), { code: 'ENOENT' }), 'coded'],
      [
        'an error with a code that is no string',
        Object.assign(new Error('coded'), { code: Symbol('c') }),
        'coded',
      ],
      ['an error with a message that is no string', Object.assign(new Error(), { message: { a: 1 } })],
      ['an error with a stack that is no string', Object.assign(new Error('stack'), { stack: 1 }), 'stack'],
      ['a frozen error', frozen, 'frozen'],
      ['an error whose message getter throws', unreadable],
      ['an error of which nothing can be read', allUnreadable],
      ['an error with a cause', new Error('outer', { cause: new Error('inner') }), 'outer'],
      ['an aggregate error', new AggregateError([new Error('a')], 'several'), 'several'],
      ['a string', 'just text', 'just text'],
      ['an empty string', ''],
      ['a number', 42, '42'],
      ['NaN', NaN],
      ['zero', 0],
      ['a bigint', 10n],
      ['true', true],
      ['false', false],
      ['null', null],
      ['undefined', undefined],
      ['a symbol', Symbol('odd')],
      ['a function', () => 1],
      ['a plain object', { reason: 'odd' }],
      ['an empty object', {}],
      ['an object without a prototype', Object.create(null)],
      ['an object whose toString throws', { toString: throwingGetter }],
      [
        'a proxy that throws at any look',
        new Proxy({}, { get: throwingGetter, getPrototypeOf: throwingGetter, has: throwingGetter }),
      ],
      ['a revoked proxy', revoked.proxy],
      ['an array', [1, 2]],
    ] as [string, unknown, string?][]
  )
    // Every row has all its columns: Vitest takes a missing one for the context of the test.
    .map(([kind, thrown, message]) => [kind, thrown, message]);

  const ways: [string, (thrown: unknown) => unknown][] = [
    [
      'thrown',
      (thrown) => {
        throw thrown;
      },
    ],
    // Not an async function: a promise is rejected with the value as it is.
    ['a rejection', (thrown) => Promise.reject(thrown)],
    ['an error of an observable', (thrown) => lastValueFrom(inSpan(() => throwError(() => thrown)))],
    [
      'thrown in a generator',
      (thrown) =>
        (async function* () {
          yield 1;
          throw thrown;
        })(),
    ],
  ];

  /** Runs the work to its end and returns what came out of it as thrown. */
  async function caught(run: () => unknown): Promise<{ thrown: unknown } | undefined> {
    try {
      const result = run();
      if (result instanceof Promise) await result;
      else if (typeof result === 'object' && result !== null && Symbol.asyncIterator in result) {
        for await (const _value of result as AsyncGenerator) continue;
      }
    } catch (thrown) {
      return { thrown };
    }
    return undefined;
  }

  describe.each(ways)('%s', (way, finish) => {
    it.each(values)(
      'I2: %s: the same value goes on, one exception event, ERROR, ended once',
      async (_kind, value, message) => {
        const observable = way === 'an error of an observable';
        const outcome = await caught(() => (observable ? finish(value) : inSpan(() => finish(value))));
        // Object.is by hand: a failing matcher would print the value, which some of these don't survive.
        expect(outcome !== undefined && Object.is(outcome.thrown, value)).toBe(true);
        const span = spans.single('work');
        expect(span.status.code).toBe(SpanStatusCode.ERROR);
        if (message !== undefined) expect(span.status.message).toBe(message);
        expect(exceptions(span)).toHaveLength(1);
        expect(spans.openCount()).toBe(0);
      },
    );
  });

  it.each<[string, (body: () => unknown) => unknown]>([
    ['traceFn', (body) => traceFn('orders', 'work')(body)()],
    ['withSpan', (body) => withSpan('work', body)],
  ])('I2: %s does the same', async (_name, run) => {
    for (const value of [null, undefined, Symbol('odd'), Object.create(null), frozen, unreadable]) {
      spans.clear();
      for (const [, finish] of ways.slice(0, 2)) {
        const outcome = await caught(() => run(() => finish(value)));
        expect(outcome !== undefined && Object.is(outcome.thrown, value)).toBe(true);
      }
      expect(spans.named('work').map((span) => [span.status.code, exceptions(span).length])).toEqual([
        [SpanStatusCode.ERROR, 1],
        [SpanStatusCode.ERROR, 1],
      ]);
    }
  });

  it('I2: an exception that the body recorded itself before it threw is on the span once', () => {
    const error = new Error('recorded by hand');
    expect(() =>
      inSpan((span) => {
        span?.recordException(error);
        throw error;
      }),
    ).toThrow(error);
    expectError('recorded by hand');
  });
});
