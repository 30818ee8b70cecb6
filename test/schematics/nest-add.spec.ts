import { describe, expect, it } from 'vitest';
import { WorkspaceTree } from '../support/workspace-tree.js';

const PACKAGE = (type: string, prod = 'node dist/main'): string =>
  `${JSON.stringify(
    {
      name: '@acme/web-shop',
      type,
      scripts: {
        build: 'nest build',
        start: 'nest start',
        'start:dev': 'nest start --watch',
        'start:prod': prod,
        test: 'jest',
      },
      dependencies: { '@nestjs/core': '^12.0.1' },
    },
    null,
    2,
  )}\n`;

const MAIN = (extension: string): string => `import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module${extension}';

async function bootstrap() {
  const app = await NestFactory.create(AppModule);
  await app.listen(process.env.PORT ?? 3000);
}
void bootstrap();
`;

const MODULE = (extension: string): string => `import { Module } from '@nestjs/common';
import { AppController } from './app.controller${extension}';

@Module({
  imports: [],
  controllers: [AppController],
})
export class AppModule {}
`;

const workspace = (type: string, extension: string): WorkspaceTree =>
  new WorkspaceTree({
    'package.json': PACKAGE(type),
    'nest-cli.json': '{ "sourceRoot": "src" }',
    'src/main.ts': MAIN(extension),
    'src/app.module.ts': MODULE(extension),
  });

describe('nest add', () => {
  it.each([
    ['commonjs', ''],
    ['module', '.js'],
  ])('wires a new application whose modules are %s', (type, extension) => {
    const tree = workspace(type, extension);
    const said = tree.add();

    expect(tree.text('src/app.module.ts')).toBe(`import { Module } from '@nestjs/common';
import { AppController } from './app.controller${extension}';
import { NestLensModule } from 'nest-lens';
import { webShopSpans } from './app.span-groups${extension}';

@Module({
  imports: [
    NestLensModule.forRoot({
      registrations: [webShopSpans],
      autoGroups: { handlers: 'requests' },
    }),
  ],
  controllers: [AppController],
})
export class AppModule {}
`);
    expect(tree.text('src/app.span-groups.ts')).toMatch(
      /export const webShopSpans = defineSpanGroups\(\{\n {2}namespace: 'web_shop',\n {2}groups: \['requests'\]/,
    );
    expect(JSON.parse(tree.text('package.json')).scripts).toEqual({
      build: 'nest build',
      start: 'nest start --exec "node --import nest-lens/register"',
      'start:dev': 'nest start --watch --exec "node --import nest-lens/register"',
      'start:prod': 'node --import nest-lens/register dist/main',
      test: 'jest',
    });
    expect(said.filter((line) => line.startsWith('warn'))).toEqual([]);
    expect(said.join()).toContain('npm i @opentelemetry/api @opentelemetry/sdk-node');
  });

  it('changes nothing when it is run again', () => {
    const tree = workspace('module', '.js');
    tree.add();
    const before = new Map(tree.files);
    const said = tree.add();
    expect(tree.files).toEqual(before);
    expect(said.filter((line) => line.startsWith('warn'))).toEqual([]);
    expect(said.join()).toContain('src/app.module.ts has NestLensModule.forRoot already');
  });

  it('changes the project of a monorepo that it is told, and no other', () => {
    const files = {
      'package.json': PACKAGE('commonjs', 'node dist/apps/shop/main'),
      'nest-cli.json': `{
        // the default is the shop
        "sourceRoot": "apps/shop/src",
        "monorepo": true,
        "projects": {
          "shop": { "type": "application", "root": "apps/shop", "entryFile": "main", "sourceRoot": "apps/shop/src" },
          "back-office": { "type": "application", "root": "apps/back-office", "entryFile": "server", "sourceRoot": "apps/back-office/src", },
        },
      }`,
      'apps/shop/src/main.ts': MAIN(''),
      'apps/shop/src/app.module.ts': MODULE(''),
      'apps/back-office/src/server.ts': `import { NestFactory } from '@nestjs/core';
import { BackOfficeModule as Root } from './modules';
export const run = () => NestFactory.createMicroservice<Options<'a'>>(Root, {});
`,
      'apps/back-office/src/modules/index.ts': "export * from './back-office.module';\n",
      'apps/back-office/src/modules/back-office.module.ts': MODULE('').replace(
        'AppModule',
        'BackOfficeModule',
      ),
    };
    for (const options of [{ sourceRoot: 'apps/back-office/src' }, { project: 'back-office' }]) {
      const tree = new WorkspaceTree(files);
      tree.add(options);
      expect(tree.text('apps/shop/src/app.module.ts')).toBe(MODULE(''));
      expect(tree.text('apps/back-office/src/modules/back-office.module.ts')).toContain(
        "import { backOfficeSpans } from './back-office.span-groups';",
      );
      expect(tree.text('apps/back-office/src/modules/back-office.span-groups.ts')).toContain("'back_office'");
      tree.add({ sourceRoot: 'apps/shop/src' });
      expect(tree.text('apps/shop/src/app.module.ts')).toContain('registrations: [shopSpans]');
    }
    const tree = new WorkspaceTree(files);
    tree.add({ sourceRoot: 'undefined' });
    expect(tree.text('apps/shop/src/app.module.ts')).toContain('registrations: [shopSpans]');
  });

  it('finds the root module in the entry file itself, and keeps Windows line endings, double quotes and tabs', () => {
    const main = [
      'import { Module } from "@nestjs/common"',
      'import { NestFactory } from "@nestjs/core" // the factory',
      '',
      '@Module({',
      '\tproviders: [],',
      '})',
      'class ShopModule {}',
      '',
      'NestFactory.create(ShopModule)',
      '',
    ].join('\r\n');
    const tree = new WorkspaceTree({ 'package.json': PACKAGE('module'), 'src/main.ts': main });
    tree.add();
    expect(tree.text('src/main.ts').split('\r\n').slice(0, 15)).toEqual([
      'import { Module } from "@nestjs/common"',
      'import { NestFactory } from "@nestjs/core" // the factory',
      'import { NestLensModule } from "nest-lens"',
      'import { webShopSpans } from "./app.span-groups.js"',
      '',
      '@Module({',
      '\timports: [',
      '\t\tNestLensModule.forRoot({',
      '\t\t\tregistrations: [webShopSpans],',
      '\t\t\tautoGroups: { handlers: "requests" },',
      '\t\t}),',
      '\t],',
      '\tproviders: [],',
      '})',
      'class ShopModule {}',
    ]);
    expect(tree.text('src/app.span-groups.ts')).not.toMatch(/[^\r]\n|;|'/);
  });

  it('uses a definition that stands where its own would', () => {
    const tree = workspace('module', '.js');
    const mine =
      "import { defineSpanGroups } from 'nest-lens';\nexport const mine = defineSpanGroups({ namespace: 'a', groups: ['b'] });\n";
    tree.files.set('src/app.span-groups.ts', mine);
    tree.add();
    expect(tree.text('src/app.span-groups.ts')).toBe(mine);
    expect(tree.text('src/app.module.ts')).toContain('NestLensModule.forRoot({ registrations: [mine] })');
    const other = workspace('module', '.js');
    other.files.set('src/app.span-groups.ts', 'export const nothing = 1;\n');
    other.add();
    expect(other.text('src/app.module.ts')).toContain('imports: [NestLensModule.forRoot()],');
  });

  it.each<[what: string, change: (tree: WorkspaceTree) => void, warning: RegExp]>([
    [
      'no entry file and no root module',
      (tree) => ['src/main.ts', 'src/app.module.ts'].forEach((path) => tree.files.delete(path)),
      /No root module was found in src/,
    ],
    [
      'metadata from elsewhere',
      (tree) => tree.files.set('src/app.module.ts', MODULE('').replace(/\{\n[\s\S]*\n\}(?=\))/, 'metadata')),
      /metadata that isn't written out/,
    ],
    [
      'metadata that is spread',
      (tree) => tree.files.set('src/app.module.ts', MODULE('').replace('imports: [],', '...base,')),
      /put together from other objects/,
    ],
    [
      'imports that may be missing',
      (tree) =>
        tree.files.set(
          'src/app.module.ts',
          MODULE('').replace('imports: []', 'imports: isDev ? [A] : undefined'),
        ),
      /may be missing/,
    ],
  ])('says so and goes on when there is %s', (_what, change, warning) => {
    const tree = workspace('module', '.js');
    change(tree);
    const before = tree.files.get('src/app.module.ts');
    const said = tree.add().filter((line) => line.startsWith('warn'));
    expect(said).toEqual([expect.stringMatching(warning)]);
    expect(said[0]).toContain('by hand');
    expect(tree.files.get('src/app.module.ts')).toBe(before);
    expect(tree.exists('src/app.span-groups.ts')).toBe(false);
    expect(tree.text('package.json')).toContain('nest-lens/register');
  });

  it('leaves modules alone where another one calls forRoot', () => {
    const tree = workspace('module', '.js');
    const core =
      "import { NestLensModule as Lens } from 'nest-lens';\n@Module({ imports: [Lens.forRootAsync({})] })\nexport class CoreModule {}\n";
    tree.files.set('src/core.module.ts', core);
    expect(tree.add().join()).toContain('src/core.module.ts has NestLensModule.forRoot already');
    expect(tree.text('src/app.module.ts')).toBe(MODULE('.js'));
  });

  it('survives a workspace with nothing in it, and files that are no JSON', () => {
    expect(new WorkspaceTree({}).add({}).join()).toContain('No root module was found in src');
    const tree = new WorkspaceTree({
      'package.json': '{',
      'nest-cli.json': '[',
      'src/main.ts': '`${',
      'src/app.module.ts': '@Module({',
    });
    expect(tree.add({}).join()).toContain('No root module');
  });
});
