import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { spanLifeTables } from './span-life-tables.js';

const page = readFileSync(fileURLToPath(new URL('../../docs/span-life.md', import.meta.url)), 'utf8');

/** The rows of the first table under each heading, without its header. */
function tablesOf(markdown: string): Map<string, string[][]> {
  const sections = markdown.split(/^## /m).slice(1);
  return new Map(
    sections.flatMap((section): [string, string[][]][] => {
      const [heading, ...lines] = section.split('\n');
      const rows = lines
        .filter((line) => line.startsWith('|'))
        .map((line) =>
          line
            .split('|')
            .slice(1, -1)
            .map((cell) => cell.trim()),
        );
      return rows.length === 0 ? [] : [[heading!, rows.slice(2)]];
    }),
  );
}

describe('docs/span-life.md', () => {
  const tables = spanLifeTables();

  it('I9: has a table for each kind of handler, after the summary', () => {
    expect([...tablesOf(page).keys()]).toEqual(['In short', ...tables.keys()]);
  });

  it.each([...tables])(
    'I9, I12: says of %s what the tests of its handlers have measured',
    (heading, rows) => {
      expect(tablesOf(page).get(heading)).toEqual(rows);
    },
  );

  it('I9: has no kind of result twice in a table', () => {
    for (const rows of tables.values()) {
      expect(new Set(rows.map(([result]) => result)).size).toBe(rows.length);
    }
  });
});
