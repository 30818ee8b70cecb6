import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** One section of docs/what-happens-when.md. */
export interface PageSection {
  /** The lines of its table: the first cell -> the others. */
  readonly rows: ReadonlyMap<string, readonly string[]>;
  /** What stands outside of the table. */
  readonly sentences: readonly string[];
}

const page = readFileSync(fileURLToPath(new URL('../../docs/what-happens-when.md', import.meta.url)), 'utf8');

const cellsOf = (line: string): string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());

function sectionOf(lines: readonly string[]): PageSection {
  const rows = lines
    .filter((line) => line.startsWith('|'))
    .slice(2)
    .map(cellsOf);
  const sentences = lines
    .map((line) => (line.startsWith('|') ? '' : line))
    .join('\n')
    .split(/\n{2,}/)
    .flatMap((paragraph) => paragraph.replace(/\n/g, ' ').split(/(?<=\.)\s+(?=[A-Z`])/))
    .map((sentence) => sentence.trim());
  const first = new Map(rows.map(([when, ...others]) => [when!, others]));
  if (first.size !== rows.length) throw new Error('the page has the same line twice');
  return { rows: first, sentences: sentences.filter(Boolean) };
}

/** The sections of the page, by heading. */
export function whatHappensWhenPage(): ReadonlyMap<string, PageSection> {
  return new Map(
    page
      .split(/^## /m)
      .slice(1)
      .map((section): [string, PageSection] => {
        const [heading, ...lines] = section.split('\n');
        return [heading!, sectionOf(lines)];
      }),
  );
}
