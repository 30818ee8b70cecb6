import { type Token, unquote } from './tokens.js';

/** An `import … from` of a file. */
export interface ImportStatement {
  readonly specifier: string;
  /** Imported name -> local name; `default` and `*` are among them. Types are left out. */
  readonly names: ReadonlyMap<string, string>;
  /** Its end, including the semicolon. */
  readonly end: number;
  readonly hasSemicolon: boolean;
  readonly quote: string;
}

/** The import statements of a file, in order, without `import()` and `import.meta`. */
export function importStatementsOf(tokens: readonly Token[]): ImportStatement[] {
  return tokens.flatMap((token, index) => {
    const isStatement =
      token.kind === 'word' &&
      token.text === 'import' &&
      !/^[(.]$/.test(tokens[index + 1]?.text ?? '(') &&
      !/^[.:?]$/.test(tokens[index - 1]?.text ?? '');
    return isStatement ? (readStatement(tokens, index) ?? []) : [];
  });
}

function readStatement(tokens: readonly Token[], start: number): ImportStatement | undefined {
  let at = tokens.findIndex((token, index) => index > start && token.kind === 'string');
  const specifier = tokens[at];
  if (specifier === undefined) return undefined;
  const clause = tokens.slice(start + 1, at);
  if (clause.some(({ text }) => text === ';')) return undefined;
  // `with { type: 'json' }`, and the parenthesis of `import x = require('y')`.
  if (tokens[at + 1]?.text === ')') at++;
  if (['with', 'assert'].includes(tokens[at + 1]?.text ?? '') && tokens[at + 2]?.text === '{') {
    while (at + 1 < tokens.length && tokens[at]!.text !== '}') at++;
  }
  const hasSemicolon = tokens[at + 1]?.text === ';';
  return {
    specifier: unquote(specifier),
    names: namesIn(clause),
    end: tokens[hasSemicolon ? at + 1 : at]!.end,
    hasSemicolon,
    quote: specifier.text[0]!,
  };
}

function namesIn(clause: readonly Token[]): Map<string, string> {
  const names = new Map<string, string>();
  // `import type { … }`, but not `import type from 'x'`, which imports a value called `type`.
  if (clause[0]?.text === 'type' && !['from', ','].includes(clause[1]?.text ?? '')) return names;
  const open = clause.findIndex(({ text }) => text === '{');
  const before = open === -1 ? clause : clause.slice(0, open);
  if (before[0]?.kind === 'word' && before[0].text !== 'from') names.set('default', before[0].text);
  const star = before.findIndex(({ text }) => text === '*');
  if (star !== -1 && before[star + 2]) names.set('*', before[star + 2]!.text);
  if (open === -1) return names;
  const close = clause.findIndex(({ text }) => text === '}');
  const words = clause.slice(open + 1, close).map(({ text }) => text);
  for (const part of words.join(' ').split(' , ').concat()) {
    const [name, as, local] = part.replace(/[ ,]+$/, '').split(' ');
    if (name && name !== 'type') names.set(name, as === 'as' && local ? local : name);
  }
  return names;
}
