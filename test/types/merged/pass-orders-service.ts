// Must compile: what the documentation shows.
// #region span-group-names-used
import { managedSpan, SpanGroup } from 'nest-lens';

export class OrdersService {
  @SpanGroup('orders') // 'oders' does not compile
  find(id: string) {
    return managedSpan('cache_read', 'orders.from_cache', () => id);
  }
}
// #endregion
