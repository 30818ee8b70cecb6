/** A request that the demo sends, and the status that it expects. */
export interface DemoRequest {
  method: 'GET' | 'POST';
  path: string;
  body?: unknown;
  status: number;
  note: string;
}

const card = '4242424242424242';

/** One of each: the first order of a fresh shop has the number 1. */
export const DEMO_REQUESTS: readonly DemoRequest[] = [
  { method: 'GET', path: '/products', status: 200, note: 'the catalogue' },
  { method: 'GET', path: '/products/1', status: 200, note: 'a product' },
  { method: 'GET', path: '/products/999', status: 404, note: 'no such product' },
  {
    method: 'POST',
    path: '/orders',
    body: {
      lines: [
        { productId: 1, quantity: 1 },
        { productId: 2, quantity: 2 },
      ],
      card,
    },
    status: 201,
    note: 'an order: stock, payment and order in one transaction',
  },
  {
    method: 'POST',
    path: '/orders',
    body: { lines: [{ productId: 3, quantity: 5 }], card },
    status: 409,
    note: 'an order of more than there is: all of it is rolled back',
  },
  {
    method: 'GET',
    path: '/orders/1/status',
    status: 200,
    note: 'the status of the order, as an event stream',
  },
  { method: 'GET', path: '/reports/revenue', status: 500, note: 'a report that fails on purpose' },
];
