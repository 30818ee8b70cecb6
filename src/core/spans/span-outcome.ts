import { types } from 'node:util';
import { context, type Span } from '@opentelemetry/api';
import { InFlightSpan } from './in-flight-span.js';
import { type AsyncGeneratorLike, followGenerator, isAsyncGenerator } from './generator-outcome.js';
import { followObservable, isFollowedObservable } from './observable-outcome.js';
import { isObservable, type ObservableLike } from './observable-shape.js';
import type { SpanPlan } from './span-plan.js';
import { coverThenable } from './thenable-outcome.js';

/**
 * Runs work inside a span. The span ends when the work returns or throws. If the work returns something that goes on, the
 * span ends with that: when the promise settles, the observable completes, errors or is unsubscribed, the async generator is
 * done, or the query has an answer. The caller gets the result, and any thrown value unchanged.
 *
 * @param outside the active context, if the caller knows it: each look-up costs up to 25 ns
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

/** Keeps the span open as long as the work behind a result, and returns what the caller gets. */
function followResult(plan: SpanPlan, open: InFlightSpan, result: unknown): unknown {
  try {
    return followWork(plan, open, result);
  } catch {
    open.end(); // It only looked like a result to follow, or it refuses to be read: the caller gets it untouched.
    return result;
  }
}

function followWork(plan: SpanPlan, open: InFlightSpan, result: unknown): unknown {
  switch (workBehind(result)) {
    case 'promise':
      return followPromise(plan, open.track(), result as Promise<unknown>);
    case 'observable':
      return followObservable(result as ObservableLike, open.track(), (outside) =>
        plan.isOn?.() === false ? undefined : new InFlightSpan(plan, outside).track(),
      );
    case 'generator':
      return followGenerator(result as AsyncGeneratorLike, open.track());
    case 'thenable':
      if (!coverThenable(result as object, open.track(), (value) => followResult(plan, open, value)))
        open.end();
      return result;
    default:
      open.end();
      return result;
  }
}

/**
 * The kind of work behind a result. It calls nothing on the result. It doesn't read proxies other than ours; `coverThenable`
 * finds out whether they have a `then`.
 */
export function workBehind(result: unknown): 'promise' | 'observable' | 'generator' | 'thenable' | 'none' {
  if (typeof result === 'function') return types.isProxy(result) || 'then' in result ? 'thenable' : 'none';
  if (typeof result !== 'object' || result === null) return 'none';
  try {
    if (types.isPromise(result)) return isPlainPromise(result) ? 'promise' : 'thenable';
    if (types.isProxy(result)) return isFollowedObservable(result) ? 'observable' : 'thenable';
    if (isObservable(result)) return 'observable';
    if (isAsyncGenerator(result)) return 'generator';
    if ('then' in result) return 'thenable';
  } catch {
    // A getter threw: this result isn't ours to look into.
  }
  return 'none';
}

/**
 * Whether a promise is one of the language's own, without a `then` of its own. Only such a promise can be replaced by a
 * followed one: others have members that the replacement would lack, and some begin their work when `then` is called.
 */
function isPlainPromise(promise: Promise<unknown>): boolean {
  const prototype = Object.getPrototypeOf(promise) as object;
  return (
    (prototype === Promise.prototype || isPromisePrototype(prototype)) && !Object.hasOwn(promise, 'then')
  );
}

/** Whether this is the `Promise.prototype` of another realm, such as a test runner's or that of `node:vm`. */
function isPromisePrototype(prototype: object): boolean {
  const base = Object.getPrototypeOf(prototype) as object | null;
  if (base === null || Object.getPrototypeOf(base) !== null) return false;
  return ['then', 'finally', Symbol.toStringTag].every((key) => Object.hasOwn(prototype, key));
}

function followPromise(plan: SpanPlan, open: InFlightSpan, promise: Promise<unknown>): Promise<unknown> {
  // One `then` with both callbacks, because each further promise in the chain would cost about 0.2 us.
  const followed = promise.then(
    (value) => followResult(plan, open, value),
    (reason: unknown) => {
      open.fail(reason);
      throw reason;
    },
  );
  copyMembers(promise, followed);
  return followed;
}

/**
 * Copies members that a caller has added to a promise, such as a `cancel()` or a `[Symbol.asyncDispose]()`. Measured: 0.2 us
 * a promise on Node 20, which keeps three symbols of its own on each; half of that without symbols.
 */
function copyMembers(promise: object, followed: object): void {
  for (const key of Reflect.ownKeys(promise)) {
    if (Object.hasOwn(followed, key)) continue; // Node's own symbols
    Reflect.defineProperty(followed, key, Object.getOwnPropertyDescriptor(promise, key)!);
  }
}
