/** RxJS observables, known by their shape: the core imports no rxjs, and a process may load several copies of it. */
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

export interface ObserverLike {
  next(value: unknown): void;
  error(error: unknown): void;
  complete(): void;
}

export type SubscriberLike = SubscriptionLike & ObserverLike;

export type ObservableClass = new (subscribe: (subscriber: SubscriberLike) => void) => ObservableLike;

/** The public methods that the prototype of RxJS's `Observable` has itself, in all its versions since 6. */
const OWN_METHODS = ['subscribe', 'pipe', 'forEach', 'toPromise'];
/** Whether this is an instance of RxJS's `Observable`, from any copy, and not only a lookalike. */
export function isObservable(value: object): value is ObservableLike {
  const { lift, subscribe } = value as Partial<ObservableLike>;
  if (typeof lift !== 'function' || typeof subscribe !== 'function') return false;
  const base = basePrototype(value);
  if (base === value || !OWN_METHODS.every((method) => Object.hasOwn(base, method))) return false;
  // RxJS and other libraries recognise each other's observables by this member.
  const { observable } = Symbol as { observable?: symbol };
  return Object.hasOwn(base, '@@observable') || (observable !== undefined && Object.hasOwn(base, observable));
}

/** The prototype at the bottom of an observable's classes: that of RxJS's `Observable`. */
export function basePrototype(source: object): object {
  return lowestWith('lift', source);
}

/** The lowest object in a prototype chain that has the member itself; the top object if none has. */
function lowestWith(member: string, top: object): object {
  let lowest = top;
  for (let at: object | null = top; at !== null; at = Object.getPrototypeOf(at) as object | null) {
    if (Object.hasOwn(at, member)) lowest = at;
  }
  return lowest;
}

/**
 * Makes the subscriber to subscribe a source with. The source's values go to `observer`, and the source's teardown runs with
 * the subscriber's, by `tearDown`.
 */
export function createInnerSubscriber(
  subscriber: SubscriberLike,
  observer: ObserverLike,
  tearDown: (run: () => void) => void,
): SubscriberLike & { readonly constructor: unknown } {
  // A subscription of RxJS's own, whose class is the base of a subscriber's. It drops teardowns that have run.
  const { constructor: Subscription } = lowestWith('add', subscriber) as {
    constructor: new () => SubscriptionLike;
  };
  const teardowns = new Subscription();
  // It runs at once if the subscriber is closed already.
  subscriber.add(() => tearDown(() => teardowns.unsubscribe()));
  // RxJS takes an object of this shape as a subscriber and uses it directly, so synchronous sources see `closed`. Another span may
  // cover the same source: then this is its subscriber, and has to name the class too.
  return {
    constructor: Subscription,
    get closed() {
      return subscriber.closed;
    },
    next: (value) => observer.next(value),
    error: (error) => observer.error(error),
    complete: () => observer.complete(),
    add: (teardown) => teardowns.add(teardown),
    remove: (teardown) => teardowns.remove(teardown),
    unsubscribe: () => subscriber.unsubscribe(),
  };
}
