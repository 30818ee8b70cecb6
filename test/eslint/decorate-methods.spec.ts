import { testRule } from '../support/rule-cases.js';

testRule('decorate-methods', {
  typescript: {
    valid: [
      "class A { @SpanGroup('orders') read() {} }",
      "class A { @SpanGroup('orders') async *read() {} }",
      "class A { @SpanGroup('orders') static read() {} }",
      "@SpanGroup('orders')\nclass A { read = () => 1; get size() { return 1; } @NoSpanGroup() health() {} }",
      "class A { @Other('orders') read = () => 1; }",
      "import { SpanGroup } from './mine.js';\nimport 'nest-lens';\nclass A { @SpanGroup('orders') read = () => 1; }",
    ],
    invalid: [
      [
        "class A { @SpanGroup('orders') read = () => 1; }",
        'property',
        { decorator: 'SpanGroup', member: 'read' },
      ],
      ["class A { @SpanGroup('orders') read = async function () {}; }", 'property'],
      ["class A { @SpanGroup('orders') accessor read = 1; }", 'property'],
      [
        "class A { @SpanGroup('orders') get size() { return 1; } }",
        'accessor',
        { decorator: 'SpanGroup', member: 'size' },
      ],
      ['class A { @NoSpanGroup() set size(size: number) {} }', 'accessor'],
      ["class A { read(@SpanGroup('orders') id: string) {} }", 'parameter'],
      ["abstract class A { @SpanGroup('orders') abstract read: () => void; }", 'property'],
      [
        "import { SpanGroup as Spans } from 'nest-lens';\nclass A { @Spans('orders') read = () => 1; }",
        'property',
      ],
      [
        "import * as lens from 'nest-lens';\nclass A { @lens.SpanGroup('orders') read = () => 1; }",
        'property',
      ],
      [
        "import { SpanGroup } from 'nest-lens/fallbacks';\nclass A { @SpanGroup('orders') get a() { return 1; } }",
        'accessor',
      ],
      ["class A { @applyDecorators(Get(), SpanGroup('orders')) read = () => 1; }", 'property'],
    ],
  },
});
