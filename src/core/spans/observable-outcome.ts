import { setImmediate } from 'node:timers';
import { context, type Context, trace } from '@opentelemetry/api';
import type { InFlightSpan } from './in-flight-span.js';

/** RxJS observables, seen by their shape: the core imports no rxjs, and several copies of it may be about. */
export interface ObservableLike {
  subscribe(observer: unknown): SubscriptionLike;
  lift(operator: unknown): unknown;
}

export interface SubscriptionLike {
  readonly closed: boolean;
  add(teardown: unknown): void;
  remove(teardown: unknown): void;
  unsubscribe(): void;
}

export interface SubscriberLike extends SubscriptionLike {
  next(value: unknown): void;
  error(error: unknown): void;
  complete(): void;
}

export type ObservableClass = new (subscribe: (subscriber: SubscriberLike) => void) => ObservableLike;

/** Whether this is an instance of RxJS's `Observable`, of whichever copy: of a class that has `lift` and `subscribe`. */
export function isObservable(value: object): value is ObservableLike {
  const { lift, subscribe } = value as Partial<ObservableLike>;
  if (typeof lift !== 'function' || typeof subscribe !== 'function') return false;
  const base = basePrototype(value);
  return base !== value && Object.hasOwn(base, 'subscribe') && Object.hasOwn(base, 'pipe');
}

const followed = new WeakSet<object>();

/** Whether this is an observable that `followObservable` made: a proxy that may be followed again. */
export function isFollowedObservable(value: object): boolean {
  return followed.has(value);
}

/** One subscription: what is subscribed to, and the span that covers it. */
export interface CoveredSubscription {
  readonly source: ObservableLike;
  /** Undefined: the group is off by now. */
  readonly open: Pick<InFlightSpan, 'span' | 'inside' | 'end' | 'fail' | 'cancel'> | undefined;
  /** The context that its values go out to. @defaultValue the one that is active when it is subscribed */
  readonly outside?: Context;
}

/**
 * An observable whose subscriptions are covered by spans. The first one takes the span that is open already; if there is
 * none by the next macrotask, that span ends as cancelled. Each further one is opened by `again`.
 *
 * @param Observable RxJS's class, of whichever copy
 */
export function coverSubscriptions(
  Observable: ObservableClass,
  first: CoveredSubscription,
  again: (outside: Context) => CoveredSubscription,
): ObservableLike {
  let unclaimed: CoveredSubscription | undefined = first;
  // Node's own timer, which a test's fake timers leave alone.
  setImmediate(() => {
    unclaimed?.open?.cancel();
    unclaimed = undefined;
  });
  return new Observable((subscriber) => {
    const subscription = unclaimed ?? again(context.active());
    unclaimed = undefined;
    const { source, open, outside = context.active() } = subscription;
    if (open === undefined) subscriber.add(source.subscribe(subscriber));
    else subscribeInSpan(source, open, outside, subscriber);
  });
}

/** An observable like the given one, each of whose subscriptions is covered by a span: the open one, then new ones. */
export function followObservable(
  source: ObservableLike,
  open: InFlightSpan,
  reopen: (outside: Context) => InFlightSpan | undefined,
): ObservableLike {
  const base = basePrototype(source);
  const { constructor: Observable } = base as { constructor: ObservableClass };
  const covered = coverSubscriptions(Observable, { source, open }, (outside) => ({
    source,
    open: reopen(outside),
  }));
  const isPlain =
    Object.getPrototypeOf(source) === base && Object.keys(source).every((key) => OWN_FIELDS.has(key));
  return isPlain ? covered : standIn(source, covered);
}

/** What an observable of RxJS itself carries. */
const OWN_FIELDS = new Set(['source', 'operator', '_subscribe']);
/** The members of an observable that come to its values through `this.subscribe`. */
const READERS = new Set<PropertyKey>(['pipe', 'lift', 'forEach', 'toPromise', 'asObservable', 'constructor']);

/** For subjects and other subclasses: a proxy that is the source in every respect, but subscribes to `covered`. */
function standIn(source: ObservableLike, covered: ObservableLike): ObservableLike {
  const subscribe = covered.subscribe.bind(covered);
  const proxy = new Proxy(source, {
    get(target, key) {
      if (key === 'subscribe') return subscribe;
      const value: unknown = Reflect.get(target, key, target);
      // Other methods run on the source itself, which may have private fields that a proxy doesn't.
      return typeof value === 'function' && !READERS.has(key) ? (value.bind(target) as unknown) : value;
    },
    set: (target, key, value) => Reflect.set(target, key, value, target),
  });
  followed.add(proxy);
  return proxy;
}

/** The prototype at the bottom of an observable's classes: that of RxJS's `Observable`. */
function basePrototype(source: object): object {
  let base: object = source;
  for (let at: object | null = source; at !== null; at = Object.getPrototypeOf(at) as object | null) {
    if (Object.hasOwn(at, 'lift')) base = at;
  }
  return base;
}

/**
 * Subscribes to the source inside the span; values go on to the subscriber outside of it, so that outer operators (a `tap`, a
 * `retry`) don't run under a span that isn't theirs. Where nothing is traced outside, a value that comes in another trace,
 * such as an event of some request, goes on in that one, as it does without a span.
 */
function subscribeInSpan(
  source: ObservableLike,
  open: NonNullable<CoveredSubscription['open']>,
  outside: Context,
  subscriber: SubscriberLike,
): void {
  const isTracedOutside = trace.getSpan(outside) !== undefined;
  const { traceId } = open.span.spanContext();
  const outwards = (emit: () => void): void => {
    // Without a span outside, the trace began with this work: what is in it comes out of the work.
    const isOwn = isTracedOutside || trace.getActiveSpan()?.spanContext().traceId === traceId;
    return isOwn ? context.with(outside, emit) : emit();
  };
  const teardowns = createSubscription(subscriber);
  // RxJS takes an object of this shape for a subscriber and uses it as it is, so `closed` reaches synchronous sources.
  const inner: SubscriberLike = {
    get closed() {
      return subscriber.closed;
    },
    next: (value) => outwards(() => subscriber.next(value)),
    error: (error) => {
      open.fail(error);
      outwards(() => subscriber.error(error));
    },
    complete: () => {
      open.end();
      outwards(() => subscriber.complete());
    },
    add: (teardown) => teardowns.add(teardown),
    remove: (teardown) => teardowns.remove(teardown),
    unsubscribe: () => subscriber.unsubscribe(),
  };
  // Runs at once when the subscriber is closed already.
  subscriber.add(() => {
    try {
      context.with(open.inside, () => teardowns.unsubscribe());
    } finally {
      open.cancel(); // without effect after complete or error
    }
  });
  try {
    context.with(open.inside, () => source.subscribe(inner));
  } catch (thrown) {
    open.fail(thrown);
    throw thrown;
  }
}

/** A subscription of RxJS's own, whose class is at the bottom of a subscriber's: it lets go of what has ended. */
function createSubscription(subscriber: SubscriberLike): SubscriptionLike {
  let base: object = subscriber;
  for (let at: object | null = subscriber; at !== null; at = Object.getPrototypeOf(at) as object | null) {
    if (Object.hasOwn(at, 'add')) base = at;
  }
  const { constructor: Subscription } = base as { constructor: new () => SubscriptionLike };
  return new Subscription();
}
