import { setImmediate } from 'node:timers';
import { context, type Context, type Span, trace } from '@opentelemetry/api';
import type { InFlightSpan } from './in-flight-span.js';
import {
  basePrototype,
  createInnerSubscriber,
  type ObservableClass,
  type ObservableLike,
  type ObserverLike,
  type SubscriberLike,
} from './observable-shape.js';

const followed = new WeakSet<object>();

/** Whether `followObservable` made this observable. It is a proxy that may be followed again. */
export function isFollowedObservable(value: object): boolean {
  return followed.has(value);
}

/** One subscription: its source and the span that covers it. */
export interface CoveredSubscription {
  readonly source: ObservableLike;
  /** Undefined if the group is off by now. */
  readonly open: Pick<InFlightSpan, 'span' | 'inside' | 'end' | 'fail' | 'cancel'> | undefined;
  /** The context in which its values reach the subscriber. @defaultValue the active one when it is subscribed */
  readonly outside?: Context;
}

/**
 * An observable whose subscriptions are covered by spans. The first subscription takes the span that is open already. If none
 * comes by the next macrotask, that span ends, and not as cancelled: the work may go on without a subscriber, as with a
 * message that was emitted. `again` opens the span of each further subscription.
 *
 * @param Observable the class of the RxJS copy that made the source
 */
export function coverSubscriptions(
  Observable: ObservableClass,
  first: CoveredSubscription,
  again: (outside: Context) => CoveredSubscription,
): ObservableLike {
  let unclaimed: CoveredSubscription | undefined = first;
  const covered = new Observable((subscriber) => {
    const subscription = unclaimed ?? again(context.active());
    unclaimed = undefined;
    const { source, open, outside = context.active() } = subscription;
    if (open === undefined) subscriber.add(source.subscribe(subscriber));
    else subscribeInSpan(source, open, outside, subscriber);
  });
  // This is Node's own timer, so that fake timers of tests don't touch it.
  setImmediate(() => {
    unclaimed?.open?.end();
    unclaimed = undefined;
  });
  return covered;
}

/** An observable like the given one, whose subscriptions are covered by spans: first the open one, then new ones. */
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

/** The own fields of RxJS's plain observables. */
const OWN_FIELDS = new Set(['source', 'operator', '_subscribe']);
/** The members of an observable that read its values through `this.subscribe`. */
const READERS = new Set<PropertyKey>(['pipe', 'lift', 'forEach', 'toPromise', 'asObservable', 'constructor']);

/** For subjects and other subclasses: a proxy that behaves like the source, but subscribes to `covered`. */
function standIn(source: ObservableLike, covered: ObservableLike): ObservableLike {
  const subscribe = covered.subscribe.bind(covered);
  const proxy = new Proxy(source, {
    get(target, key) {
      if (key === 'subscribe') return subscribe;
      const value: unknown = Reflect.get(target, key, target);
      // Other methods run on the source itself, which may have private fields that a proxy lacks.
      return typeof value === 'function' && !READERS.has(key) ? (value.bind(target) as unknown) : value;
    },
    set: (target, key, value) => Reflect.set(target, key, value, target),
  });
  followed.add(proxy);
  return proxy;
}

/**
 * Subscribes to the source inside the span. Its values reach the subscriber outside of the span, so that outer operators (a
 * `tap`, a `retry`) don't run under a foreign span. If nothing is traced outside, a value from another trace, such as an
 * event of some request, stays in that trace, as it does without a span.
 */
function subscribeInSpan(
  source: ObservableLike,
  open: NonNullable<CoveredSubscription['open']>,
  outside: Context,
  subscriber: SubscriberLike,
): void {
  const isTracedOutside = trace.getSpan(outside) !== undefined;
  const traceId = traceIdOf(open.span);
  const outwards = (emit: () => void): void => context.with(outside, emit);
  const observer: ObserverLike = {
    next(value) {
      // Without a span outside, this work began the trace, so values in this trace come from this work.
      const isOwn = isTracedOutside || traceIdOf(trace.getActiveSpan()) === traceId;
      if (isOwn) outwards(() => subscriber.next(value));
      else subscriber.next(value);
    },
    error(error) {
      open.fail(error);
      outwards(() => subscriber.error(error));
    },
    complete() {
      open.end();
      outwards(() => subscriber.complete());
    },
  };
  const inner = createInnerSubscriber(subscriber, observer, (run) => {
    try {
      context.with(open.inside, run);
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

/** Undefined without a span, and if the span's tracer fails. */
function traceIdOf(span: Span | undefined): string | undefined {
  try {
    return span?.spanContext().traceId;
  } catch {
    return undefined;
  }
}
