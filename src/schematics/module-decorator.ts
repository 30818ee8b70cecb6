import { importStatementsOf } from './import-statements.js';
import { closingOf, splitAtCommas, type Token } from './tokens.js';

/** One `@Module(…)`, and the class below it. */
export interface ModuleDecorator {
  readonly className: string;
  /** The index of the `@`. */
  readonly at: number;
  /** The index of the opening parenthesis. */
  readonly open: number;
  readonly close: number;
}

/** A property of the object in `@Module`. */
export interface ObjectProperty {
  readonly key: string;
  /** Empty for a shorthand: `{ imports }`. */
  readonly value: readonly Token[];
  readonly tokens: readonly Token[];
}

export function moduleDecoratorsOf(tokens: readonly Token[]): ModuleDecorator[] {
  const nest = importStatementsOf(tokens).find(({ specifier }) => specifier === '@nestjs/common');
  const name = nest?.names.get('Module') ?? 'Module';
  return tokens.flatMap(({ text, kind }, index) => {
    const open = index + 1;
    if (kind !== 'word' || (text !== name && text !== 'Module') || tokens[open]?.text !== '(') return [];
    let at = index - 1;
    while (tokens[at]?.text === '.' && tokens[at - 1]?.kind === 'word') at -= 2;
    const close = closingOf(tokens, open);
    if (tokens[at]?.text !== '@' || close === undefined) return [];
    const keyword = tokens.findIndex((each, place) => place > close && each.text === 'class');
    const className = tokens[keyword + 1];
    return keyword === -1 || className?.kind !== 'word'
      ? []
      : [{ className: className.text, at, open, close }];
  });
}

/** The properties of the object literal at an index; undefined if it is no object literal. */
export function propertiesAt(tokens: readonly Token[], open: number): ObjectProperty[] | undefined {
  const close = tokens[open]?.text === '{' ? closingOf(tokens, open) : undefined;
  if (close === undefined) return undefined;
  return splitAtCommas(tokens, open + 1, close).map((part) => {
    const [first, second] = part as [Token, Token | undefined];
    const key = first.kind === 'string' ? first.text.slice(1, -1) : first.kind === 'word' ? first.text : '';
    // `...base` begins with a sign and gets the empty key, as does everything else that isn't `key: value`.
    if (second === undefined) return { key, value: [], tokens: part };
    return second.text === ':'
      ? { key, value: part.slice(2), tokens: part }
      : { key: '', value: [], tokens: part };
  });
}
