// #region client-proxy
import { Injectable } from '@nestjs/common';
import type { ClientProxy } from '@nestjs/microservices';
import { inSubscriptionContext, managedSpan } from 'nest-lens';
import { mergeMap, type Observable } from 'rxjs';

@Injectable()
export class Checkout {
  constructor(private readonly prices: ClientProxy) {}

  place(cart: string[]): Observable<number> {
    return this.prices.send<number>('price', cart).pipe(
      inSubscriptionContext(), // from here on: the context of whoever subscribed
      mergeMap((price) => managedSpan('orders', 'orders.place', async () => price)),
    );
  }
}
// #endregion
