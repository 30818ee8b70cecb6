import { defineSpanGroups } from 'nest-lens';
import { catalogSpans } from '../catalog/catalog.span-groups.js';
import { paymentsSpans } from '../payments/payments.span-groups.js';

/**
 * What orders can emit.
 *
 * `default` and `per_request` are joined with those of the other namespaces. `checkout` is a preset of this one
 * alone: it borrows `stock` from the catalogue and `payment` from payments, to show one order from end to end.
 */
export const ordersSpans = defineSpanGroups({
  namespace: 'orders',
  groups: ['order', 'order_status', 'pricing', 'report'],
  presets: {
    default: ['order', 'report'],
    per_request: ['order', 'order_status', 'pricing', 'report'],
    checkout: ['order', 'stock', 'payment'],
  },
  // Whose groups the presets may borrow: a misspelt one doesn't compile.
  using: [catalogSpans, paymentsSpans],
  // `pricing` is shared with `catalog`, and meant to be.
  allowOverride: true,
});
