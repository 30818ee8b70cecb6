// #region sites
import { trace } from '@opentelemetry/api';
import { isSpanGroupEnabled, managedSpan, safeSetSpanAttributes, traceFn, withSpan } from 'nest-lens';

interface Order {
  id: string;
  lines: { price: number; quantity: number }[];
}

// A block. The span covers the promise; what it throws is recorded and goes on unchanged.
export function charge(order: Order, card: { token: string }) {
  return managedSpan('payment', 'payment.charge', async (span) => {
    safeSetSpanAttributes(span, { 'order.id': order.id, 'card.token': card.token }); // [REDACTED]
    return { paid: totalOf(order) };
  });
}

// A function. Attributes of a site are best given as a function: it runs only while the group is on.
export const totalOf = traceFn('pricing', 'pricing.total', {
  attributes: () => ({ 'pricing.currency': 'EUR' }),
})((order: Order) => order.lines.reduce((sum, { price, quantity }) => sum + price * quantity, 0));

// Work that is done for a span only.
export function refund(order: Order) {
  if (isSpanGroupEnabled('payment')) {
    trace.getActiveSpan()?.addEvent('payment.refunded', { 'order.lines': JSON.stringify(order.lines) });
  }
}

// A span in no group: always made.
export function nightlyReport(orders: Order[]) {
  return withSpan('nightly-report', (span) => {
    span.setAttribute('report.orders', orders.length);
    return orders.map(totalOf);
  });
}
// #endregion
