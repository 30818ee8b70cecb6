import { types } from 'node:util';
import { context, type Span } from '@opentelemetry/api';
import { InFlightSpan } from './in-flight-span.js';
import { type AsyncGeneratorLike, followGenerator, isAsyncGenerator } from './generator-outcome.js';
import {
  followObservable,
  isFollowedObservable,
  isObservable,
  type ObservableLike,
} from './observable-outcome.js';
import type { SpanPlan } from './span-plan.js';

/**
 * Runs work inside a span that covers all of it: until it returns or throws, its promise settles, its observable
 * completes, errors or is unsubscribed, its async generator is done. The result goes to the caller, any thrown value
 * unchanged.
 *
 * @param outside the active context, from who knows it already: each look-up costs up to 25 ns
 */
export function runInSpan<T>(plan: SpanPlan, work: (span: Span) => T, outside = context.active()): T {
  const open = new InFlightSpan(plan, outside);
  let result: T;
  try {
    result = context.with(open.inside, work, undefined, open.span);
  } catch (thrown) {
    open.fail(thrown);
    throw thrown;
  }
  return followResult(plan, open, result) as T;
}

/** Lets the span last as long as the work behind a result, and returns what the caller is to get. */
function followResult(plan: SpanPlan, open: InFlightSpan, result: unknown): unknown {
  switch (workBehind(result)) {
    case 'promise':
      return followPromise(plan, open.track(), result as Promise<unknown>);
    case 'observable':
      return followObservable(result as ObservableLike, open.track(), (outside) =>
        plan.isOn?.() === false ? undefined : new InFlightSpan(plan, outside).track(),
      );
    case 'generator':
      return followGenerator(result as AsyncGeneratorLike, open.track());
    default:
      open.end();
      return result;
  }
}

/**
 * What kind of work goes on behind a result. Only real promises count, by their internal slot: a lazy thenable (a query
 * builder) would start to work if its `then` were called. Proxies are not asked anything, except our own.
 */
export function workBehind(result: unknown): 'promise' | 'observable' | 'generator' | 'none' {
  if (typeof result !== 'object' || result === null) return 'none';
  if (types.isPromise(result)) return 'promise';
  try {
    if (types.isProxy(result)) return isFollowedObservable(result) ? 'observable' : 'none';
    if (isObservable(result)) return 'observable';
    if (isAsyncGenerator(result)) return 'generator';
  } catch {
    // A getter that throws: whatever it is, it isn't ours to look into.
  }
  return 'none';
}

function followPromise(plan: SpanPlan, open: InFlightSpan, promise: Promise<unknown>): Promise<unknown> {
  let followed: Promise<unknown>;
  try {
    // One `then` with both callbacks: each further promise in the chain would cost about 0.2 us. A subclass derives a
    // promise of its own kind.
    followed = promise.then(
      (value) => followResult(plan, open, value),
      (reason: unknown) => {
        open.fail(reason);
        throw reason;
      },
    );
  } catch {
    open.end(); // a subclass that can't derive one; the caller gets the promise as it is
    return promise;
  }
  // What somebody hung on the promise, such as a cancel(), goes along.
  for (const key of Object.keys(promise)) {
    Reflect.defineProperty(followed, key, Object.getOwnPropertyDescriptor(promise, key)!);
  }
  return followed;
}
