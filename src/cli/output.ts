import { quote } from '../core/diagnostics/quote-details.js';

/** A stream, as far as commands use it. */
export interface WritableLike {
  readonly isTTY?: boolean | undefined;
  write(text: string): unknown;
}

/** The process of a command. `process` is one. */
export interface CommandHost {
  readonly stdout: WritableLike;
  readonly stderr: WritableLike;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const STYLES = { bold: '1', dim: '2', red: '31', green: '32', yellow: '33' } as const;
type Style = keyof typeof STYLES;

/** A cell of a table. Texts are printed unchanged, so texts from a server have to go through `safe`. */
export type Cell = string | { readonly text: string; readonly style: Style };

/** Longer than any name that people choose. */
const MOST_SHOWN = 120;

/** A name on one line, because a server's names must not control the reader's terminal. */
export function safe(text: unknown, most = MOST_SHOWN): string {
  return quote(String(text), most);
}

/** The output of a command. It is coloured only on a terminal, and not with NO_COLOR. */
export class Output {
  private readonly isColoured: boolean;

  constructor(private readonly host: CommandHost) {
    const { NO_COLOR: none = '', TERM: terminal } = host.env;
    this.isColoured = host.stdout.isTTY === true && none === '' && terminal !== 'dumb';
  }

  /** Whether a person reads the output. */
  get isTerminal(): boolean {
    return this.host.stdout.isTTY === true;
  }

  line(text = ''): void {
    this.host.stdout.write(`${text}\n`);
  }

  json(value: unknown): void {
    this.line(JSON.stringify(value, null, 2));
  }

  /** For people; scripts read the other stream. */
  note(text: string): void {
    this.host.stderr.write(`${text}\n`);
  }

  /** Overwrites the last line, for a person who waits. */
  progress(text: string): void {
    this.host.stderr.write(`\r${text}\u001B[K`);
  }

  styled(text: string, style: Style): string {
    return this.isColoured ? `\u001B[${STYLES[style]}m${text}\u001B[0m` : text;
  }

  table(header: readonly string[], rows: readonly (readonly Cell[])[]): void {
    const texts = rows.map((row) => row.map(textOf));
    const widths = header.map((title, at) => Math.max(title.length, ...texts.map((row) => row[at]!.length)));
    const print = (cells: readonly Cell[]): void => {
      const padded = cells.map((cell, at) => {
        const text = textOf(cell).padEnd(at === cells.length - 1 ? 0 : widths[at]!);
        return typeof cell === 'string' ? text : this.styled(text, cell.style);
      });
      this.line(padded.join('  ').trimEnd());
    };
    print(header.map((text) => ({ text, style: 'bold' as const })));
    for (const row of rows) print(row);
  }
}

function textOf(cell: Cell): string {
  return typeof cell === 'string' ? cell : cell.text;
}
