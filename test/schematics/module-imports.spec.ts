import { describe, expect, it } from 'vitest';
import ts from 'typescript';
import { WorkspaceTree } from '../support/workspace-tree.js';

/** With a definition that is there, the call is short. */
const GROUPS = {
  'src/app.span-groups.ts':
    "import { defineSpanGroups } from 'nest-lens';\nexport const shopSpans = defineSpanGroups({ namespace: 'shop', groups: ['orders'] });\n",
};

/** The text of a root module after `nest add`, the decorator onwards. */
function added(module: string, files: Record<string, string> = GROUPS): string {
  const tree = new WorkspaceTree({
    ...files,
    'package.json': '{ "name": "shop" }',
    'src/app.module.ts': `import { Module } from '@nestjs/common';\n\n${module}\nexport class AppModule {}\n`,
  });
  tree.add();
  const code = tree.text('src/app.module.ts');
  const { diagnostics } = ts.transpileModule(code, {
    reportDiagnostics: true,
    compilerOptions: { experimentalDecorators: true },
  });
  expect(diagnostics).toEqual([]);
  const again = new Map(tree.files);
  tree.add();
  expect(tree.files).toEqual(again);
  return code.slice(code.indexOf('\n\n') + 2, code.indexOf('\nexport class'));
}

const LENS = 'NestLensModule.forRoot({ registrations: [shopSpans] })';

describe('the imports of a root module, after nest add', () => {
  it.each<[what: string, before: string, after: string]>([
    ['are the first property where there are none', '@Module({})', `@Module({\n  imports: [${LENS}],\n})`],
    ['are made where there is no metadata', '@Module()', `@Module({ imports: [${LENS}] })`],
    [
      'stand on the line of the others',
      '@Module({ providers: [] })',
      `@Module({ imports: [${LENS}], providers: [] })`,
    ],
    [
      'have it first, on one line',
      '@Module({\n  imports: [A],\n})',
      `@Module({\n  imports: [${LENS}, A],\n})`,
    ],
    [
      'are broken where the line gets too long',
      '@Module({\n  imports: [ConfigModule.forRoot({ isGlobal: true }), OrdersModule],\n})',
      `@Module({\n  imports: [\n    ${LENS},\n    ConfigModule.forRoot({ isGlobal: true }),\n    OrdersModule,\n  ],\n})`,
    ],
    [
      'keep their comments and the lines of the others',
      '@Module({\n  imports: [ // [core]\n    // first: }\n    A, /* B, */\n    C,\n  ],\n})',
      `@Module({\n  imports: [ // [core]\n    ${LENS},\n    // first: }\n    A, /* B, */\n    C,\n  ],\n})`,
    ],
    [
      'keep what is spread into them',
      '@Module({ imports: [...modules] })',
      `@Module({ imports: [${LENS}, ...modules] })`,
    ],
    [
      'are joined with a constant',
      '@Module({ imports: modules })',
      `@Module({ imports: [${LENS}, ...modules] })`,
    ],
    [
      'are joined with a shorthand',
      '@Module({ imports, providers })',
      `@Module({ imports: [${LENS}, ...imports], providers })`,
    ],
    [
      'are joined with what a call gives',
      '@Module({ imports: [A, isDev && B].filter(Boolean) })',
      `@Module({ imports: [${LENS}, ...([A, isDev && B].filter(Boolean))] })`,
    ],
    [
      'are found under a key in quotes',
      "@Module({ 'imports': [A] })",
      `@Module({ 'imports': [${LENS}, A] })`,
    ],
    [
      'are found behind other decorators, texts and templates',
      "// @Module({ imports: [] })\n@Global()\n@Other({ imports: ['x'] })\n@Module({\n  controllers: [`imports: [${a({ b: `}` })}`, /[\\]}]/],\n  imports: [],\n})",
      `// @Module({ imports: [] })\n@Global()\n@Other({ imports: ['x'] })\n@Module({\n  controllers: [\`imports: [\${a({ b: \`}\` })}\`, /[\\]}]/],\n  imports: [${LENS}],\n})`,
    ],
    [
      'are found below a comment that says forRoot',
      '// NestLensModule.forRoot() of nest-lens\n@Module({ imports: [] })',
      `// NestLensModule.forRoot() of nest-lens\n@Module({ imports: [${LENS}] })`,
    ],
    [
      'may span lines and be empty',
      '@Module({\n  imports: [\n  ],\n})',
      `@Module({\n  imports: [\n    ${LENS},\n  ],\n})`,
    ],
    [
      'are those of the right class',
      '@Module({ imports: [B] })\nclass Other {}\n\n@Module({ imports: [] })',
      `@Module({ imports: [B] })\nclass Other {}\n\n@Module({ imports: [${LENS}] })`,
    ],
  ])('%s', (_what, before, after) => {
    expect(added(before)).toBe(after);
  });
});

describe('the longer call of a definition that nest add has made', () => {
  it.each([
    ['@Module({})', '@Module({\n  imports: [\n    CALL,\n  ],\n})'],
    ['@Module()', '@Module({ imports: [CALL] })'],
    ['@Module({ providers: [] })', '@Module({ imports: [CALL], providers: [] })'],
    ['@Module({\n  imports: [A],\n})', '@Module({\n  imports: [\n    CALL,\n    A,\n  ],\n})'],
    ['@Module({\n  imports: [\n    A,\n  ],\n})', '@Module({\n  imports: [\n    CALL,\n    A,\n  ],\n})'],
    ['@Module({ imports: modules })', '@Module({ imports: [CALL, ...modules] })'],
  ])('has lines of its own where %j leaves it no room', (before, after) => {
    const options = ['registrations: [shopSpans]', "autoGroups: { handlers: 'requests' }"];
    const broken = `NestLensModule.forRoot({\n${options.map((each) => `      ${each},\n`).join('')}    })`;
    const call = after.includes('\n    CALL') ? broken : `NestLensModule.forRoot({ ${options.join(', ')} })`;
    expect(added(before, {})).toBe(after.replace('CALL', call));
  });
});

describe('the import statements of a root module, after nest add', () => {
  it.each<[what: string, code: string, expected: string[]]>([
    [
      'come after the last one, several lines, attributes and all',
      "import {\n  Module,\n  type Type,\n} from '@nestjs/common';\nimport json from './a.json' with { type: 'json' };\nconst a = import('./b.js');\n@Module({})\nexport class AppModule {}\n",
      [
        "import json from './a.json' with { type: 'json' };",
        "import { NestLensModule } from 'nest-lens';",
        "import { shopSpans } from './app.span-groups.json';",
      ],
    ],
    [
      'use what is imported already',
      "import { Module } from '@nestjs/common';\nimport { SpanGroup, NestLensModule as Lens } from 'nest-lens';\n@Module({})\nexport class AppModule {}\n",
      [
        "import { SpanGroup, NestLensModule as Lens } from 'nest-lens';",
        "import { shopSpans } from './app.span-groups';",
        '@Module({',
        '  imports: [',
        '    Lens.forRoot({',
        '      registrations: [shopSpans],',
      ],
    ],
    [
      'take another name where theirs is used',
      "import { Module } from '@nestjs/common';\nconst shopSpans = 1;\n@Module({})\nexport class AppModule {}\n",
      ["import { shopSpansDefinition } from './app.span-groups';"],
    ],
    [
      'have the extension .ts where the others have it',
      "import { Module } from '@nestjs/common';\nimport { A } from './a.ts';\n@Module({})\nexport class AppModule {}\n",
      ["import { shopSpans } from './app.span-groups.ts';"],
    ],
  ])('%s', (_what, code, expected) => {
    const tree = new WorkspaceTree({ 'package.json': '{ "name": "shop" }', 'src/app.module.ts': code });
    tree.add();
    const text = tree.text('src/app.module.ts').replace('span-groups.json', 'span-groups.json');
    expect(text).toContain(expected.join('\n').replace('.span-groups.json', '.span-groups'));
  });
});
