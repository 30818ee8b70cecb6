import { context } from '@opentelemetry/api';
import { type MonoTypeOperatorFunction, Observable } from 'rxjs';
import { createInnerSubscriber, type ObservableLike } from '../core/spans/observable-shape.js';

/**
 * An operator behind which everything runs in the context in which the observable is subscribed. The source stays where it is.
 *
 * For sources that emit in somebody else's context: the replies of a `ClientProxy` come in the context of whoever opened its
 * socket, so operators behind `client.send()` would make their spans in the trace of that first request. Where the result
 * is awaited (`await lastValueFrom(…)`), the code after the `await` is in its own context without it.
 *
 * @example
 * client.send('price', cart).pipe(
 *   inSubscriptionContext(),
 *   mergeMap((price) => managedSpan('orders', 'orders.place', () => this.place(cart, price))),
 * );
 */
export function inSubscriptionContext<T>(): MonoTypeOperatorFunction<T> {
  return (source) =>
    new Observable((subscriber) => {
      const outside = context.active();
      const bind = (emit: () => void): void => context.with(outside, emit);
      const observer = {
        next: (value: unknown) => bind(() => subscriber.next(value as T)),
        error: (error: unknown) => bind(() => subscriber.error(error)),
        complete: () => bind(() => subscriber.complete()),
      };
      (source as unknown as ObservableLike).subscribe(
        createInnerSubscriber(subscriber, observer, (run) => run()),
      );
    });
}
