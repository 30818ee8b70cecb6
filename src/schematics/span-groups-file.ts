import { posix } from 'node:path';
import type { SourceStyle } from './source-style.js';
import { readText, type SchematicTree } from './schematic-tree.js';
import { tokenize } from './tokens.js';

/** The first group, which every handler is in. */
export const FIRST_GROUP = 'requests';

/** The file of the first definition, and its export. */
export interface SpanGroupsFile {
  readonly path: string;
  /** The constant with the definition; undefined if an existing file has none. */
  readonly constant: string | undefined;
  /** The new content; undefined if the file exists. */
  readonly content: string | undefined;
}

/** The definition beside the root module: `app.span-groups.ts` for `app.module.ts`. An existing file is used and not changed. */
export function spanGroupsFileFor(
  tree: SchematicTree,
  modulePath: string,
  project: string,
  style: SourceStyle,
  isTaken: (name: string) => boolean,
): SpanGroupsFile {
  const { dir, name, ext } = posix.parse(modulePath);
  const base = /^(main|index)$/.test(name) ? 'app' : name.replace(/[.-]module$/, '');
  const path = posix.join(dir, `${base}.span-groups${ext}`);
  const existing = readText(tree, path);
  if (existing !== undefined) return { path, constant: definitionIn(existing), content: undefined };
  const namespace = toSnakeCase(project) || 'app';
  const plain = `${toCamelCase(namespace)}Spans`;
  const constant = isTaken(plain) ? `${plain}Definition` : plain;
  return { path, constant, content: contentOf(constant, namespace, style) };
}

function definitionIn(code: string): string | undefined {
  const tokens = tokenize(code);
  const call = tokens.findIndex(
    ({ text }, index) => text === 'defineSpanGroups' && tokens[index - 1]?.text === '=',
  );
  const [keyword, name] = tokens.slice(call - 3, call - 1);
  return call > 3 && keyword?.text === 'const' && tokens[call - 4]?.text === 'export'
    ? name?.text
    : undefined;
}

function contentOf(
  constant: string,
  namespace: string,
  { eol, quote, semicolon, indent }: SourceStyle,
): string {
  const text = (value: string): string => quote + value + quote;
  const group = text(FIRST_GROUP);
  return [
    `import { defineSpanGroups } from ${text('nest-lens')}${semicolon}`,
    '',
    '// The variable NEST_LENS_SPAN_GROUPS selects which of these groups make spans: the name of a preset, or of a group.',
    `// Every handler is in ${group}: autoGroups in the root module says so. Put a handler or a method into another one with`,
    `// @SpanGroup(${constant}.group(${text('…')})), a piece of code with managedSpan.`,
    `export const ${constant} = defineSpanGroups({`,
    `${indent}namespace: ${text(namespace)},`,
    `${indent}groups: [${group}],`,
    `${indent}presets: { default: [${group}], per_request: [${group}] },`,
    `})${semicolon}`,
    '',
  ].join(eol);
}

function toSnakeCase(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^[_\d]+|_+$/g, '');
}

const toCamelCase = (name: string): string =>
  name.replace(/_([a-z0-9])/g, (_all, letter: string) => letter.toUpperCase());
