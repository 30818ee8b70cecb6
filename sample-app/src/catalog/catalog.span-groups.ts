import { defineSpanGroups } from 'nest-lens';

/**
 * What the catalogue can emit. Nothing of it is in `default`: browsing is most of a shop's traffic, and `default`
 * stays quiet enough for production.
 */
export const catalogSpans = defineSpanGroups({
  namespace: 'catalog',
  groups: ['catalog', 'stock', 'pricing'],
  presets: { per_request: ['catalog', 'stock', 'pricing'] },
  // `pricing` is shared with `orders`, and meant to be: one gate for every price that is worked out.
  allowOverride: true,
});
