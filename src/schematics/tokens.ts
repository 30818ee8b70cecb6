/**
 * A piece of code: a word, a text in quotes, a template, a regular expression, or one sign. Comments and blanks are left out.
 */
export interface Token {
  readonly kind: 'word' | 'string' | 'template' | 'regex' | 'sign';
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

const BLANK_OR_COMMENT = /(?:\s|\/\/[^\n\r]*|\/\*[\s\S]*?(?:\*\/|$))+/y;
const WORD = /[\p{ID_Continue}$#\u200c\u200d]+/uy;
const STRING = /'(?:[^'\\\n]|\\[\s\S])*'?|"(?:[^"\\\n]|\\[\s\S])*"?/y;
const REGEX = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y;

/** After these words a slash begins a regular expression. */
const WORDS_BEFORE_REGEX = new Set([
  'return',
  'typeof',
  'case',
  'in',
  'of',
  'delete',
  'void',
  'throw',
  'new',
  'await',
]);

/**
 * Cuts code into tokens, as far as imports, decorators and brackets require, because the schematic has no compiler. It skips
 * a BOM and a shebang.
 */
export function tokenize(code: string): Token[] {
  const tokens: Token[] = [];
  let at = /^\uFEFF?(?:#![^\n]*)?/.exec(code)![0].length;
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    return pattern.exec(code)?.[0];
  };
  while (at < code.length) {
    at += match(BLANK_OR_COMMENT)?.length ?? 0;
    if (at >= code.length) break;
    const start = at;
    const sign = code[at]!;
    const isRegex = sign === '/' && mayBeRegex(tokens.at(-1));
    const found: [Token['kind'], string | undefined][] = [
      ['string', match(STRING)],
      ['template', sign === '`' ? code.slice(at, endOfTemplate(code, at)) : undefined],
      ['regex', isRegex ? match(REGEX) : undefined],
      ['word', match(WORD)],
    ];
    const [kind, text] = found.find(([, matched]) => matched !== undefined) ?? ['sign', sign];
    at += text!.length;
    tokens.push({ kind, text: text!, start, end: at });
  }
  return tokens;
}

function mayBeRegex(before: Token | undefined): boolean {
  if (before === undefined) return true;
  if (before.kind === 'word') return WORDS_BEFORE_REGEX.has(before.text);
  return before.kind === 'sign' && !/[)\]}]/.test(before.text);
}

/** The end of a template literal that starts at a backtick, with the literals in its expressions. */
function endOfTemplate(code: string, start: number): number {
  let depth = 0;
  for (let at = start + 1; at < code.length; at++) {
    const two = code.slice(at, at + 2);
    if (code[at] === '\\') at++;
    else if (depth === 0 && code[at] === '`') return at + 1;
    else if (depth === 0 && two === '${') {
      depth++;
      at++;
    } else if (depth > 0 && code[at] === '`') at = endOfTemplate(code, at) - 1;
    else if (depth > 0 && code[at] === '{') depth++;
    else if (depth > 0 && code[at] === '}') depth--;
  }
  return code.length;
}

const CLOSING: Record<string, string> = { '(': ')', '[': ']', '{': '}' };

/** The index of the bracket that closes the one at `open`; undefined if there is none. */
export function closingOf(tokens: readonly Token[], open: number): number | undefined {
  const expected: string[] = [];
  for (let index = open; index < tokens.length; index++) {
    const { kind, text } = tokens[index]!;
    if (kind !== 'sign') continue;
    if (CLOSING[text] !== undefined) expected.push(CLOSING[text]);
    else if (/[)\]}]/.test(text) && expected.pop() !== text) return undefined;
    if (expected.length === 0) return index;
  }
  return undefined;
}

/** The tokens from one index up to another, split at commas outside of inner brackets. */
export function splitAtCommas(tokens: readonly Token[], from: number, to: number): Token[][] {
  const parts: Token[][] = [[]];
  for (let index = from; index < to; index++) {
    const token = tokens[index]!;
    if (token.kind === 'sign' && token.text === ',') {
      parts.push([]);
      continue;
    }
    const close = token.kind === 'sign' && CLOSING[token.text] ? closingOf(tokens, index) : undefined;
    const last = Math.min(close ?? index, to - 1);
    parts.at(-1)!.push(...tokens.slice(index, last + 1));
    index = last;
  }
  return parts.filter((part) => part.length > 0);
}

/** The content of a text in quotes. */
export const unquote = (token: Token): string => token.text.slice(1, -1);
