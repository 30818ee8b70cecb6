import { managedSpan, SpanGroup } from 'nest-lens';

/** What is tested without NestLens. */
@SpanGroup('stock')
export class StockService {
  take(product: string): { product: string; left: number } {
    return managedSpan('stock', 'stock.take', () => ({ product, left: 41 }));
  }
}
