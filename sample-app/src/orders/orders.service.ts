import { Injectable } from '@nestjs/common';
import type { ReservedLine } from '../catalog/stock-line.js';
import { StockService } from '../catalog/stock.service.js';
import { DatabaseService } from '../database/database.service.js';
import type { SqlConnection } from '../database/sql-connection.js';
import { PaymentsService } from '../payments/payments.service.js';
import { orderTotalCents } from './order-total.js';
import type { Order, OrderRequest, OrderStatus } from './order.js';

@Injectable()
export class OrdersService {
  constructor(
    private readonly database: DatabaseService,
    private readonly stock: StockService,
    private readonly payments: PaymentsService,
  ) {}

  /** Stock, payment and order in one transaction: whichever fails, none of it has happened. */
  place({ lines, card }: OrderRequest): Promise<Order> {
    return this.database.transaction('place order', async (connection) => {
      const reserved = await this.stock.reserve(connection, lines);
      const totalCents = orderTotalCents(reserved);
      const paymentId = await this.payments.charge(connection, card, totalCents);
      const { id, status } = await insertOrder(connection, paymentId, reserved);
      return { id, status, totalCents };
    });
  }

  async find(id: number): Promise<Order | undefined> {
    const [order] = await this.database.query<Order>(
      'SELECT order',
      `select orders.id, status, amount_cents as "totalCents"
         from orders join payments on payments.id = payment_id
        where orders.id = $1`,
      [id],
    );
    return order;
  }
}

async function insertOrder(
  connection: SqlConnection,
  paymentId: number,
  lines: readonly ReservedLine[],
): Promise<{ id: number; status: OrderStatus }> {
  const [order] = await connection.query<{ id: number; status: OrderStatus }>(
    'INSERT orders',
    'insert into orders (payment_id) values ($1) returning id, status',
    [paymentId],
  );
  await connection.query(
    'INSERT order_lines',
    `insert into order_lines (order_id, product_id, quantity, price_cents)
     select $1, * from unnest($2::int[], $3::int[], $4::int[])`,
    [
      order!.id,
      lines.map(({ productId }) => productId),
      lines.map(({ quantity }) => quantity),
      lines.map(({ priceCents }) => priceCents),
    ],
  );
  return order!;
}
