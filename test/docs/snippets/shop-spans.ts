import { defineSpanGroups } from 'nest-lens';

/** What the snippets call `shop`: the definition of the quickstart. */
export const shop = defineSpanGroups({
  namespace: 'shop',
  groups: ['orders', 'stock'],
  presets: { default: ['orders'], per_request: ['orders', 'stock'] },
});
