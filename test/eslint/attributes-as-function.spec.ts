import { testRule } from '../support/rule-cases.js';

testRule('attributes-as-function', {
  both: {
    valid: [
      "managedSpan('orders', 'orders.read', () => 1);",
      "managedSpan('orders', 'orders.read', { attributes: () => ({ 'order.id': 7 }) }, () => 1);",
      "managedSpan('orders', 'orders.read', { attributes() { return { 'order.id': 7 }; } }, () => 1);",
      "managedSpan('orders', 'orders.read', { kind: 2 }, () => 1);",
      "managedSpan('orders', 'orders.read', (span) => span?.setAttributes({ 'order.id': 7 }));",
      // Made once, when the file is loaded.
      "const SQL = { 'db.system.name': 'postgresql' };\nfunction f() { return managedSpan('db', 'q', { attributes: SQL }, () => 1); }",
      "const query = traceFn('db', 'q', { attributes: { 'db.system.name': 'postgresql' } })(() => 1);",
      // The caller has made it, and may have needed it anyway.
      "function f(attributes) { return managedSpan('db', 'q', { attributes }, () => 1); }",
      "function f(order) { return managedSpan('db', 'q', { attributes: order.attributes }, () => 1); }",
      "for (const attributes of all()) managedSpan('db', 'q', { attributes }, () => 1);",
      // A function that gives the function.
      "const reader = (id) => () => ({ id });\nfunction f(id) { return managedSpan('db', 'q', { attributes: reader(id) }, () => 1); }",
      "function f(id) { return managedSpan('db', 'q', { attributes: read.bind(null, id) }, () => 1); }",
      "function f(id) { return managedSpan('db', 'q', { attributes: once(() => ({ id })) }, () => 1); }",
      // `withSpan` has no gate.
      "withSpan('job', { attributes: { 'job.id': 7 } }, () => 1);",
      // Not NestLens's.
      "import { managedSpan } from './mine.js';\nimport 'nest-lens';\nmanagedSpan('a', 'b', { attributes: { c: 1 } }, () => 1);",
      "import 'nest-lens';\nfunction f(managedSpan) { managedSpan('a', 'b', { attributes: { c: 1 } }, () => 1); }",
    ],
    invalid: [
      ["managedSpan('orders', 'orders.read', { attributes: { 'order.id': 7 } }, () => 1);", 'built'],
      ["managedSpan('orders', 'orders.read', { 'attributes': { ...base } }, () => 1);", 'built'],
      ["managedSpan('orders', 'orders.read', { attributes: attributesOf(order) }, () => 1);", 'built'],
      ["managedSpan('orders', 'orders.read', { attributes: Object.freeze({ a: 1 }) }, () => 1);", 'built'],
      [
        "function f(id) { return managedSpan('a', 'b', { attributes: id ? { id } : undefined }, () => 1); }",
        'built',
      ],
      [
        "function f(id) { const attributes = { id }; return managedSpan('a', 'b', { attributes }, () => 1); }",
        'built',
      ],
      [
        "function f(id) { const options = { attributes: { id } }; return managedSpan('a', 'b', options, () => 1); }",
        'built',
      ],
      [
        "function f(id) { const built = { id }; return managedSpan('a', 'b', { attributes: () => built }, () => 1); }",
        'built',
      ],
      ["function f(id) { return traceFn('a', 'b', { attributes: { id } })(() => 1)(); }", 'built'],
      [
        "import { managedSpan as span } from 'nest-lens/core';\nspan('a', 'b', { attributes: { c: 1 } }, () => 1);",
        'built',
      ],
      [
        "import * as lens from 'nest-lens/fallbacks';\nlens.managedSpan('a', 'b', { attributes: { c: 1 } }, () => 1);",
        'built',
      ],
      [
        "const { managedSpan } = require('nest-lens');\nmanagedSpan('a', 'b', { attributes: { c: 1 } }, () => 1);",
        'built',
      ],
      [
        "const { managedSpan: span } = require('nest-lens/core');\nspan('a', 'b', { attributes: { c: 1 } }, () => 1);",
        'built',
      ],
      [
        "const lens = require('nest-lens');\nlens.managedSpan('a', 'b', { attributes: { c: 1 } }, () => 1);",
        'built',
      ],
      ["require('nest-lens').managedSpan('a', 'b', { attributes: { c: 1 } }, () => 1);", 'built'],
      [
        "const { managedSpan } = await import('nest-lens/core');\nmanagedSpan('a', 'b', { attributes: { c: 1 } }, () => 1);",
        'built',
      ],
      [
        "let lens;\ntry { lens = require('nest-lens/core'); } catch { lens = require('nest-lens/fallbacks'); }\nlens.managedSpan('a', 'b', { attributes: { c: 1 } }, () => 1);",
        'built',
      ],
      ["const span = managedSpan;\nspan('a', 'b', { attributes: { c: 1 } }, () => 1);", 'built'],
    ],
  },
  typescript: {
    valid: ["class A { @SpanGroup('a', { attributes: (id: string) => ({ id }) }) read(id: string) {} }"],
    invalid: [
      ["class A { @SpanGroup('a', { attributes: { id: 1 } as never }) read() {} }", 'decorator'],
      ["managedSpan('a', 'b', { attributes: { c: 1 } as const }, () => 1);", 'built'],
      [
        "import lens = require('nest-lens');\nlens.managedSpan<number>('a', 'b', { attributes: { c: 1 } }, () => 1);",
        'built',
      ],
    ],
  },
});
