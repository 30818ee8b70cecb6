import { context } from '@opentelemetry/api';
import { type MonoTypeOperatorFunction, Observable } from 'rxjs';
import { createInnerSubscriber, type ObservableLike } from '../core/spans/observable-shape.js';

/**
 * An operator: everything behind it runs in the context in which the observable is subscribed. The source keeps its context.
 *
 * Use it for sources that emit in a foreign context. An example is a `ClientProxy`: its replies arrive in the context of the
 * request that opened its socket. Without this operator, operators behind `client.send()` would put their spans into the
 * trace of that first request. You don't need it for an awaited result (`await lastValueFrom(…)`): code after the `await`
 * runs in its own context.
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
