import { traceFn } from 'nest-lens';
import type { ReservedLine } from '../catalog/stock-line.js';
import { ordersSpans } from './orders.span-groups.js';

const DELIVERY_CENTS = 490;
const FREE_DELIVERY_FROM_CENTS = 5_000;

/** What an order costs, with delivery. */
export const orderTotalCents = traceFn(
  ordersSpans.group('pricing'),
  'pricing.total',
)((lines: readonly ReservedLine[]): number => {
  const goods = lines.reduce((sum, { quantity, priceCents }) => sum + quantity * priceCents, 0);
  return goods >= FREE_DELIVERY_FROM_CENTS ? goods : goods + DELIVERY_CENTS;
});
