// Must not compile. Each comment names the error of the next line.
import { defineSpanGroups } from 'nest-lens/core';

const database = defineSpanGroups({ namespace: 'database', groups: ['db_query'] });

const shop = defineSpanGroups({ namespace: 'shop', groups: ['orders', 'payment'] });
// error TS2345
shop.group('oders');
// error TS2345
shop.group('db_query');

defineSpanGroups({
  namespace: 'misspelt_member',
  groups: ['orders', 'payment'],
  // error TS2322 or TS2820
  presets: { default: ['orders', 'paymnet'] },
});

defineSpanGroups({
  namespace: 'member_of_a_definition_that_is_not_passed',
  groups: ['orders'],
  // error TS2322
  presets: { default: ['orders', 'db_query'] },
});

defineSpanGroups({
  namespace: 'misspelt_member_of_another_definition',
  groups: ['orders'],
  // error TS2322 or TS2820
  presets: { default: ['orders', 'db_qurey'] },
  using: [database],
});

// error TS2345 or TS2741
defineSpanGroups({ groups: ['no_namespace'] });

// error TS2322
defineSpanGroups({ namespace: 'not_a_name', groups: [1] });

// error TS2353 or TS2561
defineSpanGroups({ namespace: 'unknown_key', groups: ['orders'], preset: { default: ['orders'] } });

// error TS2322
export const notAmongThem: 'orders' = shop.group('payment');
