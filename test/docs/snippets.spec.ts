import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { allPages, dedent, root } from './documentation.js';

// The compiler and the linter see the snippets as files; the other tests of this folder run them. Here the blocks of the
// pages are compared with those files.

const REGION = /^[ \t]*\/\/ #region (\S+)\n(.*?)^[ \t]*\/\/ #endregion$/gms;
const folder = `${root}test/docs/snippets/`;
const regions = new Map<string, string>();
for (const file of readdirSync(folder)) {
  for (const [, name, text] of readFileSync(folder + file, 'utf8').matchAll(REGION)) {
    regions.set(`${file}: ${name}`, dedent(text!));
  }
}
const shown = allPages().flatMap((page) => page.blocks('ts').map((block) => ({ path: page.path, block })));

describe('the code blocks of README.md and docs', () => {
  it('are regions of test/docs/snippets, word for word', () => {
    const texts = [...regions.values()];
    expect(shown.length).toBeGreaterThan(10);
    expect(shown.filter(({ block }) => !texts.includes(block))).toEqual([]);
  });

  it('leave out none of these regions', () => {
    const blocks = shown.map(({ block }) => block);
    const hidden = [...regions].filter(([, text]) => !blocks.includes(text));
    expect(hidden.map(([name]) => name)).toEqual([]);
  });
});
