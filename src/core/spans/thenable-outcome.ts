import { setImmediate } from 'node:timers';
import { types } from 'node:util';
import { context } from '@opentelemetry/api';
import type { InFlightSpan } from './in-flight-span.js';

type AnyCallback = (this: unknown, ...args: unknown[]) => unknown;

/** Left on a `then` of ours whose time is over, but which another one stands above: takes it away. Read by every copy. */
const TAKE_AWAY = Symbol.for('nest-lens.take-away');

/** A proxy may answer the question for its prototype with itself, for ever. */
const MAX_PROTOTYPES = 100;

/**
 * Covers the work behind an object with a `then`, such as a query that runs when it is awaited. Nothing on it is called
 * here. Until somebody calls its `then`, and at the latest until the next macrotask, an own `then` stands before the one
 * that it has. The first call takes that away and runs the object's own `then` inside the span, which lasts until that one
 * calls back.
 *
 * @param settle takes the value, ends the span or lets it go on, and returns what the caller is to get
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
    // The callbacks are the caller's: they run where they would run without the span.
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
      // Without a promise that could take it, a throw would come out of the object's own code.
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

  /** A proxy may describe its property otherwise than it hands it out, as Prisma's do. */
  const isInPlace = (): boolean =>
    Reflect.getOwnPropertyDescriptor(thenable, 'then')?.value === then ||
    (types.isProxy(thenable) && Reflect.get(thenable, 'then') === then);

  const putBack = (): boolean => {
    if (own === undefined) return Reflect.deleteProperty(thenable, 'then');
    const value: unknown = typeof own.value === 'function' ? own.value : original;
    const isBack = Reflect.defineProperty(thenable, 'then', { ...own, value });
    (value as { [TAKE_AWAY]?: () => void })[TAKE_AWAY]?.();
    return isBack;
  };

  /** False if a `then` of somebody else stands above this one. */
  const takeAway = (): boolean => {
    try {
      return isInPlace() && putBack();
    } catch {
      return false; // a proxy that refuses by now: the `then` that stays goes straight through
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
  // Node's own timer, which a test's fake timers leave alone.
  setImmediate(() => {
    if (isOver) return;
    isOver = true;
    open.end();
    // Where several spans cover one object, the lower ones end first, and go with the upper one's.
    if (!takeAway()) Object.defineProperty(then, TAKE_AWAY, { value: takeAway });
  });
  return true;
}

/**
 * The function that an object has as its `then`, found without running a getter. What a proxy describes as a plain property
 * is read through the proxy.
 */
function readThen(thenable: object): AnyCallback | undefined {
  let at: object | null = thenable;
  for (let depth = 0; at !== null && depth < MAX_PROTOTYPES; depth++) {
    const descriptor = Reflect.getOwnPropertyDescriptor(at, 'then');
    if (descriptor !== undefined) {
      if (!('value' in descriptor) || (at === thenable && descriptor.configurable !== true)) return undefined;
      const then: unknown = types.isProxy(thenable) ? Reflect.get(thenable, 'then') : descriptor.value;
      return typeof then === 'function' ? (then as AnyCallback) : undefined;
    }
    at = Object.getPrototypeOf(at) as object | null;
  }
  return undefined;
}
