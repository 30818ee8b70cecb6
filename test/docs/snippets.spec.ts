import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { allPages, dedent, root } from './documentation.js';

// The compiler and the linter see the snippets as files; the other tests of this folder, or `npm run compat`, run them. Here
// the blocks of the pages are compared with those files.

const REGION = /^[ \t]*\/\/ #region (\S+)\n(.*?)^[ \t]*\/\/ #endregion$/gms;
const CONSUMERS = [
  'jest-commonjs/src',
  'jest-esm/src',
  'vitest/src',
  'recipes/recipes',
  'coming-from/guides',
].map((folder) => `compat/consumers/${folder}`);
/** Files that have regions, and files that the pages show as a whole. */
const FOLDERS = {
  regions: ['test/docs/snippets', 'test/types/merged', ...CONSUMERS],
  whole: [
    'compat/example-library',
    'compat/example-library/src',
    'compat/consumers/recipes',
    'sample-app/spec-sources/redis',
    'sample-app/spec-sources/openfeature',
  ],
};

const filesIn = (folder: string): string[] =>
  readdirSync(root + folder, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${folder}/${entry.name}`);
const textOf = (path: string): string => readFileSync(root + path, 'utf8');

const regions = new Map(
  FOLDERS.regions
    .flatMap(filesIn)
    .flatMap((path) =>
      [...textOf(path).matchAll(REGION)].map(([, name, text]): [string, string] => [
        `${path}: ${name}`,
        dedent(text!),
      ]),
    ),
);
const texts = new Set([
  ...regions.values(),
  ...FOLDERS.whole.flatMap(filesIn).map((path) => dedent(textOf(path))),
]);
/** Half of its blocks are wrong on purpose; `eslint.spec.ts` lints them all. */
const LINTED = 'docs/eslint.md';
const pages = allPages().filter(({ path }) => path !== LINTED);
const shown = pages.flatMap((page) =>
  ['ts', 'js'].flatMap((language) => page.blocks(language).map((block) => ({ path: page.path, block }))),
);

describe('the code blocks of README.md and docs', () => {
  it('are regions of test/docs/snippets or files of the example library, word for word', () => {
    expect(shown.length).toBeGreaterThan(20);
    expect(shown.filter(({ block }) => !texts.has(block))).toEqual([]);
  });

  it('leave out no region', () => {
    const blocks = new Set(shown.map(({ block }) => block));
    const hidden = [...regions].filter(([, text]) => !blocks.has(text));
    expect(hidden.map(([name]) => name)).toEqual([]);
  });
});
