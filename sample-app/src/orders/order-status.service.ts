import { Injectable } from '@nestjs/common';
import { concatMap, type Observable, takeWhile, timer } from 'rxjs';
import { DatabaseService } from '../database/database.service.js';
import type { OrderStatus } from './order.js';

const STEP_MS = 100;

@Injectable()
export class OrderStatusService {
  constructor(private readonly database: DatabaseService) {}

  /**
   * The status of an order now, then each change of it, until the order is shipped.
   *
   * The shop has no warehouse; watching an order is what moves it on, one step every `STEP_MS`.
   */
  watch(orderId: number): Observable<OrderStatus> {
    return timer(0, STEP_MS).pipe(
      concatMap((step) => (step === 0 ? this.current(orderId) : this.advance(orderId))),
      takeWhile((status) => status !== 'shipped', true),
    );
  }

  private current(orderId: number): Promise<OrderStatus> {
    return this.queryStatus('SELECT order status', 'select status from orders where id = $1', orderId);
  }

  private advance(orderId: number): Promise<OrderStatus> {
    return this.queryStatus(
      'UPDATE order status',
      `update orders set status = case status when 'paid' then 'packed' else 'shipped' end
        where id = $1 returning status`,
      orderId,
    );
  }

  private async queryStatus(name: string, text: string, orderId: number): Promise<OrderStatus> {
    const [order] = await this.database.query<{ status: OrderStatus }>(name, text, [orderId]);
    return order!.status;
  }
}
