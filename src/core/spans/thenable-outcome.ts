import { setImmediate } from 'node:timers';
import { types } from 'node:util';
import { context } from '@opentelemetry/api';
import type { InFlightSpan } from './in-flight-span.js';

type AnyCallback = (this: unknown, ...args: unknown[]) => unknown;

/**
 * The symbol of a function on a covering `then` of ours that is out of use but has another `then` above it. Calling it
 * removes that `then`. Every copy reads it.
 */
const TAKE_AWAY = Symbol.for('nest-lens.take-away');

/** A proxy may name itself as its prototype, without end. */
const MAX_PROTOTYPES = 100;

/**
 * Covers the work behind an object with a `then`, such as a query that runs when it is awaited. It calls nothing on the
 * object. It puts a `then` of its own in front of the object's, until the first call or the next macrotask. The first call
 * removes it and runs the object's own `then` inside the span, which ends when that one calls back.
 *
 * @param settle takes the value, ends the span or keeps it open, and returns the value for the caller
 * @returns false if the object can't be covered: it is frozen, or its `then` is an accessor or no function
 */
export function coverThenable(
  thenable: object,
  open: Pick<InFlightSpan, 'inside' | 'end' | 'fail'>,
  settle: (value: unknown) => unknown,
): boolean {
  const original = readThen(thenable);
  if (original === undefined) return false;
  const own = Reflect.getOwnPropertyDescriptor(thenable, 'then');
  let isOver = false;

  function then(this: unknown, onFulfilled?: unknown, onRejected?: unknown, ...rest: unknown[]): unknown {
    if (isOver) return Reflect.apply(original!, this, [onFulfilled, onRejected, ...rest]);
    isOver = true;
    takeAway();
    const outside = context.active();
    // The callbacks belong to the caller, so they run in the context that they would have without the span.
    const callBack = (callback: unknown, receiver: unknown, args: unknown[]): unknown =>
      context.with(outside, callback as AnyCallback, receiver, ...args);
    const fulfilled: AnyCallback = function (value, ...more) {
      const result = settle(value);
      return typeof onFulfilled === 'function' ? callBack(onFulfilled, this, [result, ...more]) : result;
    };
    let isDerived = true;
    const rejected: AnyCallback = function (reason, ...more) {
      open.fail(reason);
      if (typeof onRejected === 'function') return callBack(onRejected, this, [reason, ...more]);
      // If no promise could take the error, throwing it would blame the object's own code.
      if (isDerived) throw reason;
      return undefined;
    };
    try {
      const derived = context.with(open.inside, original!, this, fulfilled, rejected, ...rest);
      isDerived = derived !== undefined;
      return derived;
    } catch (thrown) {
      open.fail(thrown);
      throw thrown;
    }
  }

  /** A proxy may describe its property differently from what it returns, as Prisma's do. */
  const isInPlace = (): boolean =>
    Reflect.getOwnPropertyDescriptor(thenable, 'then')?.value === then ||
    (types.isProxy(thenable) && Reflect.get(thenable, 'then') === then);

  const putBack = (): void => {
    if (own === undefined) {
      Reflect.deleteProperty(thenable, 'then');
      return;
    }
    const value: unknown = typeof own.value === 'function' ? own.value : original;
    Reflect.defineProperty(thenable, 'then', { ...own, value });
    (value as { [TAKE_AWAY]?: () => void })[TAKE_AWAY]?.();
  };

  /** If another `then` is above this one, as when several spans cover one object, it is removed together with that one. */
  const takeAway = (): void => {
    try {
      if (isInPlace()) putBack();
      else Object.defineProperty(then, TAKE_AWAY, { value: takeAway });
    } catch {
      // A proxy that refuses changes by now: the remaining `then` passes calls straight through.
    }
  };

  const { enumerable = false } = own ?? {};
  const isDefined = Reflect.defineProperty(thenable, 'then', {
    value: then,
    enumerable,
    configurable: true,
    writable: true,
  });
  if (!isDefined || !isInPlace()) {
    if (isDefined) putBack();
    return false;
  }
  // This is Node's own timer, so that fake timers of tests don't touch it.
  setImmediate(() => {
    if (isOver) return;
    isOver = true;
    open.end();
    takeAway();
  });
  return true;
}

/**
 * Finds the function that an object has as its `then` without running a getter. A proxy that describes it as a plain property
 * may give another value, so it is read from the object.
 */
function readThen(thenable: object): AnyCallback | undefined {
  let at: object | null = thenable;
  for (let depth = 0; at !== null && depth < MAX_PROTOTYPES; depth++) {
    const descriptor = Reflect.getOwnPropertyDescriptor(at, 'then');
    if (descriptor !== undefined) {
      if (!('value' in descriptor)) return undefined;
      const then: unknown = Reflect.get(thenable, 'then');
      return typeof then === 'function' ? (then as AnyCallback) : undefined;
    }
    at = Object.getPrototypeOf(at) as object | null;
  }
  return undefined;
}
