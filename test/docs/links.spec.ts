import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { allPages, readPage, root } from './documentation.js';

const PAGES = [
  ...allPages(),
  ...['CONTRIBUTING.md', 'UPGRADING.md', 'CHANGELOG.md', 'sample-app/README.md', 'compat/README.md'].map(
    readPage,
  ),
];

/** The fragment that a heading can be linked by, as GitHub and npm make it. */
const fragmentOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

const headingsOf = (markdown: string): string[] =>
  [...markdown.replace(/^```.*?^```$/gms, '').matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    fragmentOf(heading!),
  );

const linksOf = (markdown: string): string[] =>
  [...markdown.matchAll(/\]\(([^)]+)\)/g)]
    .map(([, target]) => target!)
    .filter((each) => !/^https?:/.test(each));

function isDead(from: string, link: string): boolean {
  const [file, fragment] = link.split('#') as [string, string?];
  const path = file === '' ? join(root, from) : join(root, dirname(from), file);
  if (!existsSync(path)) return true;
  return fragment !== undefined && !headingsOf(readFileSync(path, 'utf8')).includes(fragment);
}

describe('the links of the documentation', () => {
  it.each(PAGES)('of $path lead to headings and files that are there', ({ path, text }) => {
    expect(linksOf(text).filter((link) => isDead(path, link))).toEqual([]);
  });

  it('lead from README.md, over lists of pages, to every page of docs', () => {
    const listed = (path: string): string[] =>
      linksOf(readPage(path).text).map((link) => join(dirname(path), link.split('#')[0]!));
    const lists = ['README.md', 'docs/recipes.md', 'docs/coming-from.md'];
    const reached = new Set(lists.flatMap(listed));
    const pages = allPages().map(({ path }) => path);
    expect(pages.filter((path) => path !== 'README.md' && !reached.has(path))).toEqual([]);
  });

  it('of the pages that are packed lead to what is packed', () => {
    const { files } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { files: string[] };
    const isPacked = (path: string): boolean =>
      ['README.md', 'LICENSE', ...files].some((each) => path === each || path.startsWith(`${each}/`));
    const outside = allPages().flatMap(({ path, text }) =>
      linksOf(text)
        .map((link) => relative(root, join(root, dirname(path), link.split('#')[0]!)))
        .filter((target) => target !== '' && target !== dirname(path) && !isPacked(target))
        .map((target) => `${path}: ${target}`),
    );
    expect(outside).toEqual([]);
  });
});

describe('README.md', () => {
  it.each([
    /how to see SQL/i,
    /why nothing is traced/i,
    /a preset .* are/i,
    /testing/i,
    /switch in production/i,
  ])('has a heading for what is asked most: %s', (question) => {
    const headings = [...readPage('README.md').text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => heading);
    expect(headings).toContainEqual(expect.stringMatching(question));
  });

  it('fits on 20 KB', () => {
    expect(Buffer.byteLength(readPage('README.md').text)).toBeLessThanOrEqual(20_000);
  });
});
