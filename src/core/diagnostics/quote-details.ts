/** The longest quoted text, in characters: a name, a spec, the value of a variable. */
const MAX_TEXT = 300;
/** The longest message of an error, which may quote such a text and say what to do. */
const MAX_REASON = 1_000;
/** The most names of a list, and their greatest length together. */
const MAX_NAMES = 50;
const MAX_LIST = 2_000;

/**
 * Characters that control a terminal, break a line, are invisible, or change the order of the text. In Unicode these are the
 * category Other (control, format, surrogate, private use, unassigned), all separators except the space, and the characters that
 * a font may leave out.
 */
const NOT_PRINTABLE = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}/gu;
const HALF_A_PAIR = /[\ud800-\udbff]$/;
const SHORT_ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Replaces an error that must not be shown, because it may quote a variable's value or an exporter's address. */
export const NOT_SHOWN = Symbol('not shown');

/** Details as messages show them: lists and errors are strings. */
export type QuotedDetails<D> = {
  readonly [K in keyof D]: K extends 'error' ? string : D[K] extends readonly string[] ? string : D[K];
};

/**
 * Makes the details of a warning or an error safe to quote in its message. They can come from anywhere: a spec sent to the
 * endpoint, a variable, a name that a library made up, an SDK's error. The message always stays one line of bounded length,
 * and can't control the terminal that shows it.
 */
export function quoteDetails<D extends object>(details: D): QuotedDetails<D> {
  return mapValues(details, (name, value) => {
    if (name === 'error') return quote(reasonOf(value), MAX_REASON);
    if (typeof value === 'string') return quote(value);
    if (Array.isArray(value)) return quoteList(value as string[]);
    // The near names of a spec's entries.
    if (typeof value === 'object' && value !== null)
      return mapValues(value, (_, near) => quote(String(near)));
    return value;
  }) as QuotedDetails<D>;
}

function mapValues(given: object, change: (name: string, value: unknown) => unknown): object {
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [quote(name), change(name, value)]));
}

function quoteList(names: readonly string[]): string {
  const shown: string[] = [];
  let length = 0;
  for (const name of names) {
    const quoted = quote(name);
    length += quoted.length;
    if (shown.length > 0 && (shown.length === MAX_NAMES || length > MAX_LIST)) break;
    shown.push(quoted);
  }
  const more = names.length - shown.length;
  return `[${shown.join(', ')}${more > 0 ? `, and ${more} more` : ''}]`;
}

function reasonOf(error: unknown): string {
  if (error === NOT_SHOWN) return 'the log says why';
  try {
    return String(error instanceof Error ? error.message : error);
  } catch {
    return 'an error that cannot be printed';
  }
}

/** Describes a value of a wrong type, e.g. `an array` or `the string '500'`. */
export function describeValue(value: unknown): string {
  if (typeof value === 'string') return `the string '${quote(value)}'`;
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object' && value !== null) return 'an object';
  if (typeof value === 'function' || typeof value === 'symbol') return `a ${typeof value}`;
  return quote(String(value));
}

/** The same in short: a string in quotes, the type of anything else. */
export function describeBriefly(value: unknown): string {
  if (typeof value === 'string') return `'${value}'`;
  if (Array.isArray(value)) return 'an array';
  return value === null ? 'null' : typeof value;
}

/** Shows a text on one line: escaped, and cut if it is long. */
export function quote(text: string, most = MAX_TEXT): string {
  // It is cut before, so that a megabyte isn't escaped, and after, because an escape is longer than its character.
  const escaped = text.slice(0, most).replace(NOT_PRINTABLE, escape);
  if (text.length <= most && escaped.length <= most) return escaped;
  return `${escaped.slice(0, most).replace(HALF_A_PAIR, '')}… (${text.length} characters)`;
}

function escape(character: string): string {
  const code = character.codePointAt(0)!.toString(16);
  return SHORT_ESCAPES[character] ?? (code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`);
}
