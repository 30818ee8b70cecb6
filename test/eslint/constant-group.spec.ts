import { testRule } from '../support/rule-cases.js';

testRule('constant-group', {
  both: {
    valid: [
      "managedSpan('orders', 'orders.read', () => 1);",
      "managedSpan(`orders`, 'orders.read', () => 1);",
      "import { shop } from './shop.js';\nimport { managedSpan } from 'nest-lens';\nmanagedSpan(shop.group('orders'), 'a', () => 1);",
      "import { ORDERS } from './names.js';\nimport { managedSpan } from 'nest-lens';\nmanagedSpan(ORDERS, 'a', () => 1);",
      "import * as names from './names.js';\nimport { managedSpan } from 'nest-lens';\nmanagedSpan(names.GROUPS.orders, 'a', () => 1);",
      "const { ORDERS } = require('./names.js');\nconst { managedSpan } = require('nest-lens');\nmanagedSpan(ORDERS, 'a', () => 1);",
      "const shop = defineSpanGroups({ namespace: 'shop', groups: ['orders'] });\nconst ORDERS = shop.group('orders');\nmanagedSpan(ORDERS, 'a', () => 1);\nmanagedSpan(shop.groups[0], 'b', () => 1);",
      "const GROUPS = { orders: 'orders', read: { stock: 'stock' } };\nmanagedSpan(GROUPS.orders, 'a', () => 1);\nmanagedSpan(GROUPS['read'].stock, 'b', () => 1);",
      "const GROUPS = Object.freeze({ orders: 'orders' });\nconst { orders } = GROUPS;\nmanagedSpan(orders, 'a', () => 1);",
      "const GROUPS = { get: 'db_read', put: 'db_write' };\nfunction f(kind) { return managedSpan(GROUPS[kind], 'a', () => 1); }",
      "function f(isWrite) { return managedSpan(isWrite ? 'db_write' : 'db_read', 'a', () => 1); }",
      "const PREFIX = 'db';\nmanagedSpan(PREFIX + '_query', 'a', () => 1);",
      "class Orders { static GROUP = 'orders'; read() { return managedSpan(Orders.GROUP, 'a', () => 1); } }",
      "for (const group of ['a', 'b']) managedSpan(group, 'a', () => 1);",
      "traceFn('orders', 'a')(() => 1);\nisSpanGroupEnabled('orders');",
      'managedSpan();\nmanagedSpan(...everything);',
    ],
    invalid: [
      ["function f(group) { return managedSpan(group, 'a', () => 1); }", 'computed'],
      ["const f = ({ group }) => managedSpan(group, 'a', () => 1);", 'computed'],
      ["const f = (options) => managedSpan(options.group, 'a', () => 1);", 'computed'],
      ["const f = (table) => managedSpan(`db_${table}`, 'a', () => 1);", 'computed'],
      ["const f = (table) => managedSpan('db_' + table, 'a', () => 1);", 'computed'],
      ["managedSpan(process.env.GROUP, 'a', () => 1);", 'computed'],
      ["managedSpan(process.env.GROUP ?? 'orders', 'a', () => 1);", 'computed'],
      ["managedSpan(groupFor('orders'), 'a', () => 1);", 'computed'],
      ["managedSpan(undeclared, 'a', () => 1);", 'computed'],
      ["let group = 'orders';\ngroup = pick();\nmanagedSpan(group, 'a', () => 1);", 'computed'],
      ["const f = (shop, name) => managedSpan(shop.group(name), 'a', () => 1);", 'computed'],
      ['const f = (list) => { for (const group of list) managedSpan(group, "a", () => 1); };', 'computed'],
      ["const f = (name) => traceFn(name.toLowerCase(), 'a')(() => 1);", 'computed'],
      ['const f = (group) => isSpanGroupEnabled(group);', 'computed'],
    ],
  },
  typescript: {
    valid: [
      "enum Groups { Orders = 'orders' }\nmanagedSpan(Groups.Orders, 'a', () => 1);",
      "const enum Groups { Orders = 'orders' }\nclass A { @SpanGroup(Groups.Orders) read() {} }",
      "declare const ORDERS: string;\nimport { Groups } from './groups.js';\nimport { SpanGroup } from 'nest-lens';\nclass A { @SpanGroup(Groups.Orders) read() {} }",
      "const GROUPS = { orders: 'orders' } as const;\nclass A { @SpanGroup(GROUPS.orders) read() {} }",
      "const GROUPS = ['orders', 'stock'] as const satisfies string[];\nmanagedSpan(GROUPS[0]!, 'a', () => 1);",
      "namespace Names { export const ORDERS = 'orders'; }\nmanagedSpan(Names.ORDERS, 'a', () => 1);",
      "class A { private readonly group = 'orders'; read() { return managedSpan(this.group, 'a', () => 1); } }",
    ],
    invalid: [
      [
        "class A { constructor(private group: string) {} read() { managedSpan(this.group, 'a', () => 1); } }",
        'computed',
      ],
      ['const f = (name: string) => { class A { @SpanGroup(name) read() {} } return A; };', 'computed'],
      ["const f = (name: string) => managedSpan(name as 'orders', 'a', () => 1);", 'computed'],
    ],
  },
});
