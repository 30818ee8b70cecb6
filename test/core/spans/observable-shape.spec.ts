import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { lastValueFrom, Observable, Subscription } from 'rxjs';
import { managedSpan, setEnabledSpanGroups } from 'nest-lens/core';
import { captureSpans, type CapturedSpans } from '../../support/capture-spans.js';

let spans: CapturedSpans;
beforeEach(() => {
  spans = captureSpans();
  setEnabledSpanGroups(['orders']);
});

const inSpan = <T>(work: () => T): T => managedSpan('orders', 'work', work);

const stub = (): string => 'its own';
/** A class that has these methods, and whose constructor takes whatever it is given. */
function classWith(members: readonly PropertyKey[]): new () => object {
  class Stream {}
  Object.assign(Stream.prototype, Object.fromEntries(members.map((member) => [member, stub])));
  return Stream;
}

function expectUntouched(value: object): void {
  expect(inSpan(() => value)).toBe(value);
  expect([spans.single('work').attributes, spans.openCount()]).toEqual([{ 'nestlens.group': 'orders' }, 0]);
}

const MEMBERS = ['lift', 'subscribe', 'pipe', 'forEach', 'toPromise'];

describe('what looks like an observable', () => {
  it.each<[string, () => object]>([
    [
      'an object that has all its methods itself',
      () => Object.fromEntries([...MEMBERS, '@@observable'].map((member) => [member, stub])),
    ],
    [
      'an object of a class that lacks one of its methods',
      () => new (classWith([...MEMBERS.slice(0, -1), '@@observable']))(),
    ],
    ['an object of a class that no other library would recognise as one', () => new (classWith(MEMBERS))()],
    [
      'an observable that cannot be subscribed',
      () => Object.assign(new Observable(), { subscribe: 'daily' }),
    ],
    ['an observable whose lift is something else', () => Object.assign(new Observable(), { lift: 'goods' })],
  ])('I9: %s is handed back untouched, and ends the span at return', (_kind, make) => {
    expectUntouched(make());
  });
});

describe('where the platform has Symbol.observable', () => {
  /** A copy of RxJS that was loaded after the symbol was there, as polyfills have it. */
  function loadWithSymbol(): { rxjs: typeof import('rxjs'); symbol: symbol } {
    const symbol = Symbol('observable');
    Object.defineProperty(Symbol, 'observable', { value: symbol, configurable: true });
    onTestFinished(() => void Reflect.deleteProperty(Symbol, 'observable'));
    const require = createRequire(import.meta.url);
    const bundle = join(dirname(require.resolve('rxjs/package.json')), 'dist/bundles/rxjs.umd.js');
    delete require.cache[bundle];
    const rxjs = require(bundle) as typeof import('rxjs');
    delete require.cache[bundle];
    return { rxjs, symbol };
  }

  it('I9: an observable that is marked with the symbol is followed', async () => {
    const { rxjs, symbol } = loadWithSymbol();
    expect(Reflect.ownKeys(rxjs.Observable.prototype)).toContain(symbol);
    expect(Reflect.ownKeys(rxjs.Observable.prototype)).not.toContain('@@observable');
    const result = inSpan(() => rxjs.of(1, 2));
    expect(spans.openCount()).toBe(1);
    expect(await rxjs.lastValueFrom(result)).toBe(2);
    expect([spans.names(), spans.openCount()]).toEqual([['work'], 0]);
  });

  it('I9: an object without that mark is handed back untouched', () => {
    loadWithSymbol();
    expectUntouched(new (classWith(MEMBERS))());
  });
});

describe('the subscriber that a covered source gets', () => {
  it('I9: does not run a teardown that the source has taken back', () => {
    const [kept, takenBack] = [vi.fn(), vi.fn()];
    const subscription = inSpan(
      () =>
        new Observable((subscriber) => {
          const part = new Subscription(takenBack);
          subscriber.add(part);
          subscriber.add(kept);
          subscriber.remove(part);
        }),
    ).subscribe();
    subscription.unsubscribe();
    expect([kept.mock.calls.length, takenBack.mock.calls.length]).toEqual([1, 0]);
  });

  it('I9: can be unsubscribed by the source itself, which cancels the span', () => {
    const [next, torn] = [vi.fn(), vi.fn()];
    const subscription = inSpan(
      () =>
        new Observable<number>((subscriber) => {
          subscriber.add(torn);
          subscriber.next(1);
          subscriber.unsubscribe();
          subscriber.next(2);
        }),
    ).subscribe(next);
    expect([next.mock.calls, torn.mock.calls.length, subscription.closed]).toEqual([[[1]], 1, true]);
    expect(spans.single('work').attributes).toMatchObject({ 'nestlens.cancelled': true });
    expect(spans.openCount()).toBe(0);
  });

  it('I9: tells the source that it is closed once nobody listens', async () => {
    const seen: boolean[] = [];
    const source = new Observable<number>((subscriber) => {
      seen.push(subscriber.closed);
      subscriber.complete();
      seen.push(subscriber.closed);
    });
    await lastValueFrom(
      inSpan(() => source),
      { defaultValue: undefined },
    );
    expect(seen).toEqual([false, true]);
  });
});
