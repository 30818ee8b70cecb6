import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import ts from 'typescript';
import { VERSION } from '../../src/core/state/version.js';

// Reads package.json, the sources and the built package in dist, which the global set-up of the tests has brought up to date.

// npm takes its time to pack.
vi.setConfig({ testTimeout: 60_000 });

interface Manifest {
  version: string;
  main: string;
  bin: Record<string, string>;
  types: string;
  sideEffects: boolean | string[];
  exports: Record<string, string | Record<'import' | 'require', Record<string, string>>>;
  dependencies?: Record<string, string>;
  peerDependencies: Record<string, string>;
  peerDependenciesMeta: Record<string, { optional?: boolean }>;
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const manifest = JSON.parse(read('package.json')) as Manifest;

/** The files below a folder, relative to the project, with forward slashes. */
function listFiles(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length).replaceAll('\\', '/'))
    .sort();
}

/** What a file imports in any way, type imports and `import()` included. */
const importsOf = (path: string): string[] =>
  ts.preProcessFile(read(path), true, true).importedFiles.map(({ fileName }) => fileName);

const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

/** The packages that a declaration file and the declaration files behind it mention. */
function packagesBehind(declaration: string, seen = new Set<string>()): Set<string> {
  const packages = new Set<string>();
  if (seen.has(declaration)) return packages;
  seen.add(declaration);
  for (const specifier of importsOf(declaration)) {
    const found = specifier.startsWith('.')
      ? packagesBehind(join(dirname(declaration), specifier).replace(/\.js$/, '.d.ts'), seen)
      : [packageOf(specifier)];
    for (const name of found) packages.add(name);
  }
  return packages;
}

const sources = listFiles('src');
const entries = sources.flatMap((path) => /^src\/([a-z-]+)\.ts$/.exec(path)?.[1] ?? []);

describe('The manifest', () => {
  it('carries the version that the package gives as its instrumentation scope', () => {
    expect(VERSION).toBe(manifest.version);
  });

  it('declares every package that src imports as a peer', () => {
    const imported = new Set(
      sources
        .flatMap(importsOf)
        .filter((specifier) => !specifier.startsWith('.') && !isBuiltin(specifier))
        .map(packageOf),
    );
    expect(imported).toContain('@opentelemetry/api');
    expect([...imported].filter((name) => !(name in manifest.peerDependencies))).toEqual([]);
  });

  it('has no dependencies of its own, and every peer has an upper bound', () => {
    expect(manifest.dependencies ?? {}).toEqual({});
    for (const range of Object.values(manifest.peerDependencies)) expect(range).toMatch(/^\^|<\d/);
  });

  it('needs @opentelemetry/api; whatever only one entry or an enabled set-up needs is optional', () => {
    const optional = Object.keys(manifest.peerDependenciesMeta);
    expect(Object.values(manifest.peerDependenciesMeta)).toEqual(optional.map(() => ({ optional: true })));
    const required = Object.keys(manifest.peerDependencies).filter((name) => !optional.includes(name));
    expect(required).toEqual(['@opentelemetry/api']);
    expect(optional).toEqual([
      '@nestjs/common',
      '@nestjs/core',
      '@opentelemetry/sdk-node',
      'eslint',
      'reflect-metadata',
      'rxjs',
    ]);
  });

  it('exports each entry for both module systems and for bundlers, types first, at files that the build makes', () => {
    const expected = entries.map((name) => [
      name === 'index' ? '.' : `./${name}`,
      {
        import: {
          types: `./dist/esm/${name}.d.ts`,
          module: `./dist/esm/${name}.js`,
          default: `./dist/node/${name}.js`,
        },
        require: { types: `./dist/cjs/${name}.d.ts`, default: `./dist/cjs/${name}.js` },
      },
    ]);
    expect(manifest.exports).toEqual({
      ...Object.fromEntries(expected),
      './package.json': './package.json',
    });
    for (const target of Object.values(manifest.exports)) {
      if (typeof target === 'string') continue;
      for (const condition of [target.import, target.require]) {
        // Conditions are tried in order: behind `default`, `types` would never be reached.
        expect([Object.keys(condition)[0], Object.keys(condition).at(-1)]).toEqual(['types', 'default']);
        for (const path of Object.values(condition))
          expect([path, existsSync(join(root, path))]).toEqual([path, true]);
      }
    }
    expect([manifest.main, manifest.types]).toEqual(['./dist/cjs/index.js', './dist/cjs/index.d.ts']);
  });

  it('has one command, a file of the build that Node runs wherever it is installed', () => {
    expect(manifest.bin).toEqual({ 'nest-lens': './dist/node/cli/bin.js' });
    for (const folder of ['node', 'cjs'])
      expect(read(`dist/${folder}/cli/bin.js`)).toMatch(/^#!\/usr\/bin\/env node\n/);
  });

  it('marks each build with the module system that it is in', () => {
    for (const folder of ['esm', 'node'])
      expect(JSON.parse(read(`dist/${folder}/package.json`))).toMatchObject({ type: 'module' });
    expect(JSON.parse(read('dist/cjs/package.json'))).toMatchObject({ type: 'commonjs' });
    for (const folder of ['esm', 'node']) expect(read(`dist/${folder}/index.js`)).toMatch(/^export /m);
    expect(read('dist/cjs/index.js')).not.toMatch(/^(import|export) /m);
  });

  it('lets a bundler drop what is not used, but for the entry that is imported for its effect', () => {
    expect(manifest.sideEffects).toEqual(
      ['esm', 'node', 'cjs'].map((folder) => `./dist/${folder}/register.js`),
    );
    // Bundlers read the package.json that is nearest to a file.
    for (const folder of ['dist/esm', 'dist/node', 'dist/cjs']) {
      expect((JSON.parse(read(`${folder}/package.json`)) as Manifest).sideEffects).toEqual(['./register.js']);
    }
  });

  it('has no import of the optional SDK that a bundler would follow', () => {
    const files = ['dist/esm', 'dist/node', 'dist/cjs']
      .flatMap(listFiles)
      .filter((path) => path.endsWith('.js'));
    const naming = files.filter((path) => read(path).includes('@opentelemetry/sdk'));
    const followed = naming.filter((path) =>
      importsOf(path).some((name) => /^@opentelemetry\/sdk/.test(name)),
    );
    expect(files.length).toBeGreaterThan(50);
    expect(naming).not.toEqual([]);
    expect(followed).toEqual([]);
  });

  it('packs the builds, the schematic, the licence and the documents, and nothing else', () => {
    // Without scripts: packing would rebuild dist under the feet of other tests.
    const output = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
      cwd: root,
      encoding: 'utf8',
      shell: process.platform === 'win32',
    });
    const [packed] = JSON.parse(output) as [{ files: { path: string }[] }];
    const declarations = sources
      .map((path) => path.replace(/^src\//, '').replace(/\.ts$/, '.d.ts'))
      .flatMap((name) => ['esm', 'cjs'].map((folder) => `dist/${folder}/${name}`));
    const code = ['cli/bin', ...entries].flatMap((name) =>
      ['node', 'cjs'].map((folder) => `dist/${folder}/${name}.js`),
    );
    const expected = [
      ...declarations,
      ...code,
      ...declarations.flatMap(
        (path) => path.replace(/^dist\/esm(.*)\.d\.ts$/, 'dist/esm$1.js').match(/.*\.js$/) ?? [],
      ),
      ...listFiles('dist/node/chunks'),
      ...listFiles('dist/cjs/chunks'),
      'dist/cjs/schematics/nest-add.js',
      'dist/esm/package.json',
      'dist/node/package.json',
      'dist/cjs/package.json',
      'package.json',
      'LICENSE',
      'README.md',
      'CHANGELOG.md',
      'UPGRADING.md',
      ...listFiles('schematics'),
      ...listFiles('docs'),
    ];
    expect(packed.files.map(({ path }) => path).sort()).toEqual(expected.sort());
  });
});

const importedAtOnce = new Map<string, readonly string[]>();

/** What the statements of a file import or require, its functions left out. */
function readImportedAtOnce(file: string): readonly string[] {
  const known = importedAtOnce.get(file);
  if (known !== undefined) return known;
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && !ts.isArrowFunction(node)) return;
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) {
      if (node.moduleSpecifier !== undefined) found.push((node.moduleSpecifier as ts.StringLiteral).text);
    } else if (ts.isCallExpression(node) && node.expression.getText() === 'require') {
      const [name] = node.arguments;
      if (name !== undefined && ts.isStringLiteral(name)) found.push(name.text);
    }
    node.forEachChild(visit);
  };
  visit(ts.createSourceFile('any.js', read(file), ts.ScriptTarget.Latest, true));
  importedAtOnce.set(file, found);
  return found;
}

describe('The files of the build', () => {
  /** What an entry loads when it is loaded: its own files, and packages. Not what it imports when it is asked to. */
  function loadedBy(file: string, seen = new Set<string>()): Set<string> {
    for (const specifier of readImportedAtOnce(file)) {
      const next = specifier.startsWith('.') ? join(dirname(file), specifier) : specifier;
      if (seen.has(next)) continue;
      seen.add(next);
      if (specifier.startsWith('.')) loadedBy(next, seen);
    }
    return seen;
  }

  it.each(['node', 'cjs'])('are few, and each entry loads no package that it does without: %s', (folder) => {
    const packagesOf = (entry: string): string[] =>
      [...loadedBy(`dist/${folder}/${entry}.js`)]
        .filter((name) => !name.startsWith('dist/') && !isBuiltin(name))
        .sort();
    const API = ['@opentelemetry/api'];
    expect(
      Object.fromEntries(
        ['index', 'core', 'register', 'testing', 'fallbacks', 'eslint', 'cli/bin'].map((entry) => [
          entry,
          packagesOf(entry),
        ]),
      ),
    ).toEqual({
      index: ['@nestjs/common', '@nestjs/core', ...API, 'reflect-metadata', 'rxjs'],
      core: API,
      register: API,
      testing: API,
      fallbacks: [],
      eslint: [],
      'cli/bin': [],
    });
    for (const entry of ['index', 'core'])
      expect(
        [...loadedBy(`dist/${folder}/${entry}.js`)].filter((name) => name.startsWith('dist/')).length,
      ).toBeLessThan(10);
    expect([...loadedBy(`dist/${folder}/index.js`)].join()).not.toContain('page-document');
  });

  it('export the same in both module systems', () => {
    const names = entries.filter((name) => name !== 'register');
    // In a process of its own, because what is loaded stays.
    const script = `
      import { createRequire } from 'node:module';
      const names = (module) => Object.keys(module).filter((name) => !/^default$|module/.test(name)).sort();
      const require = createRequire(process.cwd() + '/any.js');
      const both = {};
      for (const entry of ${JSON.stringify(names)}) {
        if (require('./dist/cjs/' + entry + '.js').__esModule !== true) throw new Error(entry + ' has no mark of a module');
        both[entry] = [names(await import('./dist/node/' + entry + '.js')), names(await import('./dist/cjs/' + entry + '.js'))];
      }
      console.log(JSON.stringify(both));`;
    const output = execFileSync(process.execPath, ['--no-opt', '--input-type=module', '-e', script], {
      cwd: root,
    });
    const both = JSON.parse(String(output)) as Record<string, [node: string[], cjs: string[]]>;
    expect(Object.keys(both)).toEqual(names);
    for (const [node, cjs] of Object.values(both)) {
      expect(node.length).toBeGreaterThan(0);
      expect(cjs).toEqual(node);
    }
  });
});

describe('The declarations', () => {
  it.each<[entry: string, allowed: string[]]>([
    ['index', ['@nestjs/common', '@nestjs/core', '@opentelemetry/api', 'reflect-metadata', 'rxjs']],
    ['core', ['@opentelemetry/api']],
    ['fallbacks', []],
    ['testing', ['@opentelemetry/api']],
    ['eslint', ['eslint']],
  ])('of %s mention no package but %j', (entry, allowed) => {
    for (const folder of ['esm', 'cjs']) {
      const mentioned = packagesBehind(`dist/${folder}/${entry}.d.ts`);
      expect([...mentioned].filter((name) => !allowed.includes(name))).toEqual([]);
    }
  });

  it('keep the comments of the sources', () => {
    for (const folder of ['esm', 'cjs']) {
      expect(read(`dist/${folder}/core/state/version.d.ts`)).toContain('/** The version of this copy');
    }
  });
});
