import { Injectable } from '@nestjs/common';
import { SpanGroup } from 'nest-lens';
import type { SqlConnection } from '../database/sql-connection.js';
import { catalogSpans } from './catalog.span-groups.js';
import { OutOfStockException } from './out-of-stock.exception.js';
import type { ReservedLine, StockLine } from './stock-line.js';

@Injectable()
export class StockService {
  /**
   * Takes the lines off the stock, within the caller's transaction.
   * @throws OutOfStockException at the first line that can't be had; the caller's rollback returns the others
   */
  @SpanGroup(catalogSpans.group('stock'), {
    name: 'stock.reserve',
    attributes: (_connection: SqlConnection, lines: readonly StockLine[]) => ({
      'stock.lines': lines.length,
    }),
  })
  async reserve(connection: SqlConnection, lines: readonly StockLine[]): Promise<ReservedLine[]> {
    const reserved: ReservedLine[] = [];
    for (const line of lines) {
      // The condition is part of the update, so nobody can take the last one in between.
      const [product] = await connection.query<{ price_cents: number }>(
        'UPDATE products',
        'update products set stock = stock - $2 where id = $1 and stock >= $2 returning price_cents',
        [line.productId, line.quantity],
      );
      if (!product) throw new OutOfStockException(line);
      reserved.push({ ...line, priceCents: product.price_cents });
    }
    return reserved;
  }
}
