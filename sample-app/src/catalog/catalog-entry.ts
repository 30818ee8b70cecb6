import { traceFn } from 'nest-lens';
import { catalogSpans } from './catalog.span-groups.js';
import type { Product } from './product.js';

/** A product as a customer sees it. */
export interface CatalogEntry {
  id: number;
  name: string;
  price: string;
  available: boolean;
}

/** A plain function gets its span from `traceFn`. It stays the plain, synchronous function that it was. */
export const toCatalogEntries = traceFn(
  catalogSpans.group('pricing'),
  'pricing.tag',
)((products: readonly Product[]): CatalogEntry[] =>
  products.map(({ id, name, price_cents, stock }) => ({
    id,
    name,
    price: `€${(price_cents / 100).toFixed(2)}`,
    available: stock > 0,
  })),
);
