import type { ObjectProperty } from './module-decorator.js';
import { indentAt, type SourceStyle, type TextEdit } from './source-style.js';
import { closingOf, splitAtCommas, type Token } from './tokens.js';

/** Formatters break longer lines, and Nest's own lint rules require the format. */
const LINE_LENGTH = 80;

/** The reason why nothing could be inserted, in words that finish "…, because". */
export interface NoPlace {
  readonly because: string;
}

/**
 * The edits that put a module first among the `imports` of an object literal with these properties.
 *
 * @param open the index of its brace
 * @param element the element to insert, such as `NestLensModule.forRoot()`
 */
export function addToImports(
  code: string,
  tokens: readonly Token[],
  open: number,
  properties: readonly ObjectProperty[],
  element: string,
  style: SourceStyle,
): TextEdit[] | NoPlace {
  const found = properties.find(({ key }) => key === 'imports');
  if (found === undefined) {
    return properties.some(({ key }) => key === '')
      ? { because: 'its metadata is put together from other objects' }
      : [newProperty(code, tokens, open, element, style)];
  }
  const [name] = found.tokens as [Token];
  if (found.value.length === 0) return [{ at: name.end, insert: `: [${element}, ...imports]` }];
  const [first] = found.value as [Token];
  const index = tokens.indexOf(first);
  const close = first.text === '[' ? closingOf(tokens, index) : undefined;
  const isPlain = close !== undefined && tokens[close] === found.value.at(-1);
  return isPlain
    ? [intoArray(code, tokens, index, close, element, style)]
    : aroundValue(found.value, element);
}

/** `imports: [X, ...modules]`, around the expression with the other modules. */
function aroundValue(value: readonly Token[], element: string): TextEdit[] | NoPlace {
  const texts = value.map(({ text }) => text);
  if (texts.some((text) => ['undefined', 'null', '?'].includes(text))) {
    return { because: 'its imports may be missing while the program runs' };
  }
  const needsParentheses = texts.some((text) => ['&', '|', '=', '>', 'as', 'satisfies'].includes(text));
  const [before, after] = needsParentheses ? ['(', ')'] : ['', ''];
  return [
    { at: value[0]!.start, insert: `[${element}, ...${before}` },
    { at: value.at(-1)!.end, insert: `${after}]` },
  ];
}

function intoArray(
  code: string,
  tokens: readonly Token[],
  open: number,
  close: number,
  element: string,
  style: SourceStyle,
): TextEdit {
  const { eol, indent } = style;
  const [from, to] = [tokens[open]!.end, tokens[close]!.start];
  const inside = code.slice(from, to);
  const outer = indentAt(code, tokens[open]!.start);
  const restOfLine = /^(?:[^\S\n]|\/\*[^\n]*?\*\/|\/\/[^\n\r]*)*?(?=\r?\n)/.exec(inside)?.[0];
  if (restOfLine !== undefined) {
    // A comment on the line of the bracket stays there.
    const first = tokens[open + 1]!;
    const isOnOwnLine = open + 1 < close && indentAt(code, first.start).length > outer.length;
    const inner = isOnOwnLine ? indentAt(code, first.start) : outer + indent;
    return { at: from + restOfLine.length, insert: `${eol}${inner}${fitted(element, inner, style)},` };
  }
  const elements = splitAtCommas(tokens, open + 1, close).map((part) =>
    code.slice(part[0]!.start, part.at(-1)!.end),
  );
  const lineStart = code.lastIndexOf('\n', from) + 1;
  const oneLine = [element, ...elements].join(', ');
  const isShort = to - lineStart - inside.length + oneLine.length + 2 <= LINE_LENGTH;
  // Only a property on a line of its own can be broken without looking at the rest.
  const isOwnLine = /^\s*['"]?imports['"]?\s*:\s*$/.test(code.slice(lineStart, from - 1));
  if (isShort || !isOwnLine || /\n|\/[/*]/.test(inside)) {
    return elements.length === 0
      ? { at: from, until: /\S/.test(inside) ? from : to, insert: element }
      : { at: from, insert: `${element}, ` };
  }
  const inner = outer + indent;
  const lines = [fitted(element, inner, style), ...elements].map((each) => `${eol}${inner}${each},`);
  return { at: from, until: to, insert: `${lines.join('')}${eol}${outer}` };
}

function newProperty(
  code: string,
  tokens: readonly Token[],
  open: number,
  element: string,
  style: SourceStyle,
): TextEdit {
  const { eol, indent } = style;
  const [from, next] = [tokens[open]!.end, tokens[open + 1]!];
  const inner = indentAt(code, tokens[open]!.start) + indent;
  const short = `imports: [${element}],`;
  const broken = `imports: [${eol}${inner}${indent}${fitted(element, inner + indent, style)},${eol}${inner}],`;
  const property = inner.length + short.length <= LINE_LENGTH ? short : broken;
  const gap = code.slice(from, next.start);
  if (next.text === '}' && gap.trim() === '') {
    return {
      at: from,
      until: next.start,
      insert: `${eol}${inner}${property}${eol}${inner.slice(indent.length)}`,
    };
  }
  return gap.includes('\n')
    ? { at: from, insert: `${eol}${inner}${property}` }
    : { at: from, insert: ` ${short}` };
}

/** A call with an object, on lines of its own where it is too long for one that begins with this indentation. */
function fitted(call: string, inner: string, { eol, indent }: SourceStyle): string {
  const [, head, properties, tail] = /^(.*?\(\{) (.*) (\}\))$/.exec(call) ?? [];
  if (properties === undefined || inner.length + call.length + 1 <= LINE_LENGTH) return call;
  const lines = properties.split(/, (?=\w+: )/).map((property) => `${indent}${property},`);
  return [head, ...lines, tail].join(eol + inner);
}
