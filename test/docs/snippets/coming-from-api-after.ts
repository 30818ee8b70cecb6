// #region api-after
import { defineSpanGroups, managedSpan, traceFn } from 'nest-lens/core';

export const shop = defineSpanGroups({
  namespace: 'shop',
  groups: ['orders', 'stock'],
  presets: { default: ['orders'], per_request: ['orders', 'stock'] },
});

export async function place(product: string) {
  const attributes = () => ({ 'order.product': product });
  return managedSpan(shop.group('orders'), 'orders.place', { attributes }, async (span) => {
    const left = await take(product);
    span?.setAttribute('order.left', left);
    return { product, left };
  });
}

const take = traceFn(
  shop.group('stock'),
  'stock.take',
)(async (product: string) => {
  if (product === 'coffee') throw new Error('sold out');
  return 41;
});
// #endregion
