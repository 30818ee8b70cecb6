// Must compile: definitions, and what they give.
import { defineSpanGroups, managedSpan, SpanRegistry, type SpanGroupDefinition } from 'nest-lens/core';

const database = defineSpanGroups({ namespace: 'database', groups: ['db_query', 'db_connect'] });

const shop = defineSpanGroups({
  namespace: 'shop',
  groups: ['orders', 'payment'],
  presets: { default: ['orders'], per_request: ['orders', 'payment', 'db_query'], none: [] },
  using: [database],
});

// The name that `group` gives is its own type, and good wherever a name is.
const orders: 'orders' = shop.group('orders');
export const total: number = managedSpan(orders, 'orders.total', () => 1);

// A definition is a plain one as well, and registers itself.
export const plain: SpanGroupDefinition = shop;
shop.register();

// Plain definitions take any iterable, and any name.
export const generated: SpanGroupDefinition = {
  namespace: 'generated',
  groups: new Set(['one', 'two']),
  presets: { default: new Set(['three']) },
  allowOverride: true,
};
SpanRegistry.register(
  'by_hand',
  ['four'],
  { default: ['four', 'of_somebody_else'] },
  { allowOverride: true },
);

const names = ['a', 'b'] as const;
export const listed = defineSpanGroups({ namespace: 'listed', groups: names, presets: { default: names } });
export const groupsOfListed: readonly ('a' | 'b')[] = listed.groups;
