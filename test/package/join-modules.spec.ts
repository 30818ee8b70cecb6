import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { joinModules } from '../../scripts/build/join-modules.mjs';
import { folderWith } from '../support/folder-with.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const require = createRequire(import.meta.url);
const made: string[] = [];

/** Joins these modules, as the build does, and returns the folder with what was made. */
async function joined(format: 'esm' | 'cjs', files: Record<string, string>): Promise<string> {
  const from = join(root, 'temp', folderWith(files).split('/').at(-1)!);
  const to = `${from}-${format}`;
  made.push(to);
  await joinModules({ from, to, entries: ['index'], format });
  writeFileSync(join(to, 'package.json'), format === 'cjs' ? '{ "type": "commonjs" }' : '{}');
  return to;
}

describe('the modules that the build joins', () => {
  afterEach(() => {
    for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
  });

  it.each(['esm', 'cjs'] as const)('may not have two classes of one name: %s', async (format) => {
    const files = {
      'index.js': "import { one } from './one.js';\nexport class Gate {}\nexport const both = [one, Gate];",
      'one.js': 'class Gate {}\nexport const one = new Gate();',
    };
    await expect(joined(format, files)).rejects.toThrow(/Two classes have one name: .*Gate/);
  });

  it('require, as CommonJS, what they import by a name that is not written out, in whatever way they do', async () => {
    const folder = await joined('cjs', {
      'index.js': `
        const path = 'node:path';
        export const awaited = async () => (await import(/* webpackIgnore: true */ path)).sep;
        export const chained = () => import(path).then(({ sep }) => sep);
        export const caught = () => import(['node', 'nothing'].join(':')).catch(() => 'caught');`,
    });
    const { awaited, chained, caught } = require(join(folder, 'index.js')) as Record<
      'awaited' | 'chained' | 'caught',
      () => Promise<string>
    >;
    expect(await Promise.all([awaited(), chained(), caught()])).toEqual(['/', '/', 'caught']);
    for (const code of [awaited, chained, caught].map(String)) {
      expect(code).toContain('require(');
      expect(code).not.toContain('import(');
    }
  });

  it('have ASCII characters, and no comments but those that tools read', async () => {
    const folder = await joined('esm', {
      'index.js': `
        /** Ends with \`…\`. @param {string} text */
        export const shorten = (text) => text + '… \u{1f50e}';
        // Not for webpack…
        export const load = (name) => import(/* webpackIgnore: true */ name);`,
    });
    const code = readFileSync(join(folder, 'index.js'), 'utf8');
    expect(code).toMatch(/^\p{ASCII}*$/u);
    expect(code).not.toMatch(/@param|Not for/);
    expect(code).toContain('webpackIgnore');
    const { shorten } = (await import(join(folder, 'index.js'))) as { shorten: (text: string) => string };
    expect(shorten('a')).toBe('a… \u{1f50e}');
  });

  it('stay apart where one imports the other when it is asked to', async () => {
    const folder = await joined('cjs', {
      'index.js': "export const later = async () => (await import('./page.js')).page;",
      'page.js': "globalThis.hasLoadedPage = true;\nexport const page = 'page';",
    });
    const { later } = require(join(folder, 'index.js')) as { later: () => Promise<string> };
    const loaded = globalThis as { hasLoadedPage?: boolean };
    expect(loaded.hasLoadedPage).toBeUndefined();
    expect([await later(), loaded.hasLoadedPage]).toEqual(['page', true]);
    delete loaded.hasLoadedPage;
  });
});
