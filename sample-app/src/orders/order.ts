import type { StockLine } from '../catalog/stock-line.js';

export const ORDER_STATUSES = ['paid', 'packed', 'shipped'] as const;

export type OrderStatus = (typeof ORDER_STATUSES)[number];

/** What a customer sends. */
export interface OrderRequest {
  lines: StockLine[];
  card: string;
}

/** What a customer gets. */
export interface Order {
  id: number;
  status: OrderStatus;
  totalCents: number;
}
