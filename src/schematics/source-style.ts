import type { ImportStatement } from './import-statements.js';

/** The style of a file, so that inserted code looks like the rest. */
export interface SourceStyle {
  readonly eol: string;
  readonly quote: string;
  readonly semicolon: string;
  /** One level of indentation. */
  readonly indent: string;
}

export function styleOf(code: string, imports: readonly ImportStatement[]): SourceStyle {
  const lines = code.split('\n');
  const indented = lines.map((line) => /^(\t|  +)\S/.exec(line)?.[1]).filter((each) => each !== undefined);
  const shortest = indented.reduce(
    (least, each) => (each.length < least.length ? each : least),
    indented[0] ?? '  ',
  );
  return {
    eol: eolOf(code),
    quote: imports[0]?.quote ?? "'",
    semicolon: imports.length > 0 && !imports.some(({ hasSemicolon }) => hasSemicolon) ? '' : ';',
    indent: shortest,
  };
}

/** The line ending that most lines have. */
export function eolOf(text: string): string {
  const windows = text.split('\r\n').length - 1;
  return windows > (text.split('\n').length - 1) / 2 ? '\r\n' : '\n';
}

/** The blanks at the beginning of the line of a place. */
export function indentAt(code: string, place: number): string {
  const line = code.slice(code.lastIndexOf('\n', place - 1) + 1, place);
  return /^\s*/.exec(line)![0];
}

/** A change of a text: `insert` replaces the text from a place up to `until`. */
export interface TextEdit {
  readonly at: number;
  readonly until?: number;
  readonly insert: string;
}

export function applyEdits(text: string, edits: readonly TextEdit[]): string {
  return [...edits]
    .sort((a, b) => b.at - a.at)
    .reduce((done, { at, until = at, insert }) => done.slice(0, at) + insert + done.slice(until), text);
}
