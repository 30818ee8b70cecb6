import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));

/** A Markdown page for users. */
export interface DocumentationPage {
  /** Relative to the project, such as `docs/spec.md`. */
  readonly path: string;
  readonly text: string;
  /** The code blocks of one language, in order. */
  blocks(language: string): string[];
  /** The rows of the table under a header row, each a list of cells. */
  table(...header: string[]): string[][];
}

export function readPage(path: string): DocumentationPage {
  const text = readFileSync(root + path, 'utf8');
  return {
    path,
    text,
    blocks: (language) =>
      [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map(([, block]) =>
        dedent(block!),
      ),
    table(...header) {
      const rows = text.split('\n').map(cellsOf);
      const top = rows.findIndex((cells) => cells?.join() === header.join());
      if (top === -1) throw new Error(`${path} has no table with the header ${header.join(' | ')}`);
      const body = rows.slice(top + 2);
      return body.slice(0, body.indexOf(undefined)) as string[][];
    },
  };
}

/** README.md and every page below docs. */
export function allPages(): DocumentationPage[] {
  const files = readdirSync(`${root}docs`, { recursive: true, encoding: 'utf8' });
  const pages = files.filter((file) => file.endsWith('.md')).map((file) => file.replaceAll('\\', '/'));
  return ['README.md', ...pages.map((file) => `docs/${file}`)].map(readPage);
}

/** What stands in backticks in a cell. */
export function quoted(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, text]) => text!);
}

/** Without the indentation that all lines have, and without blanks at ends. */
export function dedent(text: string): string {
  const lines = text.replace(/\s+$/, '').split('\n');
  const indents = lines.filter((line) => line.trim() !== '').map((line) => line.search(/\S/));
  const common = Math.min(...indents);
  return lines.map((line) => line.slice(common).trimEnd()).join('\n');
}

function cellsOf(line: string): string[] | undefined {
  if (!line.startsWith('|')) return undefined;
  return line
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim());
}
