import { posix } from 'node:path';
import { importStatementsOf } from './import-statements.js';
import { moduleDecoratorsOf, type ModuleDecorator } from './module-decorator.js';
import type { NestProject } from './nest-project.js';
import { readText, type SchematicTree } from './schematic-tree.js';
import { closingOf, type Token, tokenize, unquote } from './tokens.js';

const EXTENSIONS = ['.ts', '.js', '.mts', '.mjs', '.cts'];
const FACTORY_METHODS = ['create', 'createApplicationContext', 'createMicroservice'];
/** At most this many re-exporting files are followed. */
const MAX_BARRELS = 3;

/** The file of an application's root module, and the place of the decorator in it. */
export interface RootModule {
  readonly path: string;
  readonly code: string;
  readonly tokens: readonly Token[];
  readonly decorator: ModuleDecorator;
}

/** The module that the entry file passes to `NestFactory`; else the one in `app.module`. */
export function findRootModule(
  tree: SchematicTree,
  { sourceRoot, entryFile }: NestProject,
): RootModule | undefined {
  const entry = findFile(tree, posix.join(sourceRoot, entryFile));
  const tokens = tokenize((entry && readText(tree, entry)) ?? '');
  const name = createdModule(tokens);
  if (entry !== undefined && name !== undefined) {
    const here = moduleIn(tree, entry, name);
    if (here !== undefined) return here;
    const from = importOf(tokens, name);
    const path = from && resolveImport(tree, entry, from.specifier, sourceRoot);
    const imported = path && moduleBehind(tree, path, from.name, sourceRoot);
    if (imported) return imported;
  }
  const usual = findFile(tree, posix.join(sourceRoot, 'app.module'));
  return usual === undefined ? undefined : moduleIn(tree, usual, name ?? 'AppModule', true);
}

/** The name of the argument of `NestFactory.create<…>(…)`. */
function createdModule(tokens: readonly Token[]): string | undefined {
  const factory = importOf(tokens, 'NestFactory', '@nestjs/core');
  for (const [index, { text }] of tokens.entries()) {
    if (text !== (factory?.local ?? 'NestFactory') || tokens[index + 1]?.text !== '.') continue;
    if (!FACTORY_METHODS.includes(tokens[index + 2]?.text ?? '')) continue;
    let open = index + 3;
    if (tokens[open]?.text === '<') while (open < tokens.length && tokens[open]!.text !== '(') open++;
    const argument = tokens[open + 1];
    if (tokens[open]?.text === '(' && argument?.kind === 'word') return argument.text;
  }
  return undefined;
}

interface Imported {
  readonly specifier: string;
  readonly name: string;
  readonly local: string;
}

function importOf(tokens: readonly Token[], wanted: string, specifier?: string): Imported | undefined {
  for (const statement of importStatementsOf(tokens)) {
    for (const [name, local] of statement.names) {
      const isWanted =
        specifier === undefined ? local === wanted : name === wanted && statement.specifier === specifier;
      if (isWanted) return { specifier: statement.specifier, name, local };
    }
  }
  return undefined;
}

function resolveImport(
  tree: SchematicTree,
  from: string,
  specifier: string,
  sourceRoot: string,
): string | undefined {
  const bare = specifier.replace(/\.[cm]?[jt]s$/, '');
  if (bare.startsWith('.')) return findFile(tree, posix.join(posix.dirname(from), bare));
  // `src/app.module` by a base URL; `@/app.module` and `~/app.module` by the usual aliases.
  return findFile(tree, bare) ?? findFile(tree, posix.join(sourceRoot, bare.replace(/^[@~#]\w*\//, '')));
}

function findFile(tree: SchematicTree, path: string): string | undefined {
  return [path, `${path}/index`]
    .flatMap((each) => EXTENSIONS.map((extension) => each + extension))
    .find((each) => tree.exists(each));
}

/** The module in a file, or in one that the file re-exports. */
function moduleBehind(
  tree: SchematicTree,
  path: string,
  name: string,
  sourceRoot: string,
  depth = 0,
): RootModule | undefined {
  const here = moduleIn(tree, path, name, name === 'default');
  if (here !== undefined || depth > MAX_BARRELS) return here;
  for (const specifier of exportedFrom(tokenize(readText(tree, path) ?? ''))) {
    const next = resolveImport(tree, path, specifier, sourceRoot);
    const found = next && moduleBehind(tree, next, name, sourceRoot, depth + 1);
    if (found) return found;
  }
  return undefined;
}

function exportedFrom(tokens: readonly Token[]): string[] {
  return tokens.flatMap(({ kind, text }, index) => {
    const before = tokens[index - 1];
    return kind === 'word' && text === 'from' && (before?.text === '}' || before?.text === '*')
      ? tokens.slice(index + 1, index + 2).map(unquote)
      : [];
  });
}

function moduleIn(tree: SchematicTree, path: string, name: string, isLoose = false): RootModule | undefined {
  const code = readText(tree, path) ?? '';
  const tokens = tokenize(code);
  const decorators = moduleDecoratorsOf(tokens);
  const named = decorators.find(({ className }) => className === name);
  const decorator = named ?? (isLoose && decorators.length === 1 ? decorators[0] : undefined);
  return decorator && { path, code, tokens, decorator };
}

/** Whether a file calls `NestLensModule.forRoot` or `forRootAsync`, under any local name. */
export function callsForRoot(tokens: readonly Token[]): boolean {
  const local = importOf(tokens, 'NestLensModule', 'nest-lens')?.local ?? 'NestLensModule';
  return tokens.some(
    ({ text }, index) =>
      text === local &&
      tokens[index + 1]?.text === '.' &&
      /^forRoot(Async)?$/.test(tokens[index + 2]?.text ?? '') &&
      closingOf(tokens, index + 3) !== undefined,
  );
}
