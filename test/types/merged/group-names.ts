// What an application merges. It holds for the whole program, so these fixtures are compiled by themselves.
// #region span-group-names
import { defineSpanGroups } from 'nest-lens';

export const shop = defineSpanGroups({
  namespace: 'shop',
  groups: ['orders', 'payment'],
  presets: { default: ['orders'] },
});

declare module 'nest-lens' {
  interface SpanGroupNames {
    shop: typeof shop; // all groups of a definition
    cache_read: true; // one group
  }
}
// #endregion
