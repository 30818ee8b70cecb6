import { posix } from 'node:path';
import { importStatementsOf, type ImportStatement } from './import-statements.js';
import { propertiesAt } from './module-decorator.js';
import { addToImports } from './module-imports.js';
import { type NestAddOptions, nestProjectOf } from './nest-project.js';
import { callsForRoot, findRootModule, type RootModule } from './root-module.js';
import { readJson, readText, type SchematicContext, type SchematicTree } from './schematic-tree.js';
import { applyEdits, type SourceStyle, styleOf, type TextEdit } from './source-style.js';
import { FIRST_GROUP, spanGroupsFileFor, type SpanGroupsFile } from './span-groups-file.js';
import { addToStartScripts } from './start-scripts.js';
import { tokenize } from './tokens.js';

const BY_HAND = 'Add `NestLensModule.forRoot()` of `nest-lens` to the imports of your root module by hand.';

/**
 * `nest add nest-lens`: puts `forRoot` into the root module, a first definition of span groups beside it, and `--import
 * nest-lens/register` into the start scripts. Existing code stays, so a second run changes nothing. It reports what it can't
 * insert. Needs nothing but the tree that it gets.
 */
export function nestAdd(options: NestAddOptions = {}) {
  return (tree: SchematicTree, context: SchematicContext): SchematicTree => {
    wireModule(tree, context, options);
    wireScripts(tree, context);
    const { dependencies, devDependencies } = readJson(tree, 'package.json') ?? {};
    if (!('@opentelemetry/sdk-node' in { ...(dependencies as object), ...(devDependencies as object) })) {
      context.logger.info(
        'Telemetry needs the SDK when it is enabled: npm i @opentelemetry/api @opentelemetry/sdk-node',
      );
    }
    return tree;
  };
}

function wireModule(tree: SchematicTree, { logger }: SchematicContext, options: NestAddOptions): void {
  const project = nestProjectOf(tree, options);
  const wired = fileWithForRoot(tree, project.sourceRoot);
  if (wired !== undefined) {
    logger.info(`${wired} has NestLensModule.forRoot already; modules are left as they are.`);
    return;
  }
  const root = findRootModule(tree, project);
  if (root === undefined) {
    logger.warn(`No root module was found in ${project.sourceRoot}. ${BY_HAND}`);
    return;
  }
  const { path, code, tokens, decorator } = root;
  const open = decorator.open + 1;
  const isEmpty = open === decorator.close;
  const properties = isEmpty ? [] : propertiesAt(tokens, open);
  if (properties === undefined) {
    logger.warn(`${decorator.className} in ${path} has metadata that isn't written out there. ${BY_HAND}`);
    return;
  }
  const statements = importStatementsOf(tokens);
  const style = styleOf(code, statements);
  const isTaken = (name: string): boolean => tokens.some(({ text }) => text === name);
  const groups = spanGroupsFileFor(tree, path, project.name, style, isTaken);
  const module = statements.find(({ specifier }) => specifier === 'nest-lens')?.names.get('NestLensModule');
  const call = `${module ?? 'NestLensModule'}.forRoot(${forRootOptions(groups, style)})`;
  const placed = isEmpty
    ? [{ at: tokens[decorator.open]!.end, insert: `{ imports: [${call}] }` }]
    : addToImports(code, tokens, open, properties, call, style);
  if ('because' in placed) {
    logger.warn(`${decorator.className} in ${path} was left as it is, because ${placed.because}. ${BY_HAND}`);
    return;
  }
  const added = [
    ...(module === undefined ? [['NestLensModule', 'nest-lens']] : []),
    ...(groups.constant ? [[groups.constant, specifierOf(tree, root, groups.path, statements)]] : []),
  ] as [name: string, specifier: string][];
  if (groups.content !== undefined) tree.create(groups.path, groups.content);
  tree.overwrite(path, applyEdits(code, [...placed, ...importEdits(code, statements, added, style)]));
  logger.info(
    `${path}: NestLensModule.forRoot is imported by ${decorator.className}; its groups are in ${groups.path}.`,
  );
}

/** With a new definition, every handler is in its group, so that there are spans at once. */
function forRootOptions({ constant, content }: SpanGroupsFile, { quote }: SourceStyle): string {
  if (constant === undefined) return '';
  const handlers = content && `autoGroups: { handlers: ${quote}${FIRST_GROUP}${quote} }`;
  return `{ ${[`registrations: [${constant}]`, handlers].filter(Boolean).join(', ')} }`;
}

function wireScripts(tree: SchematicTree, { logger }: SchematicContext): void {
  const { text, changed, unknown } = addToStartScripts(tree);
  if (text !== undefined) {
    tree.overwrite('package.json', text);
    logger.info(`package.json: ${changed.join(', ')} start with --import nest-lens/register.`);
  }
  if (unknown.length > 0) {
    logger.warn(
      `package.json: ${unknown.join(', ')} were left as they are. Start node with --import nest-lens/register there, if you want HTTP and database spans.`,
    );
  }
}

function fileWithForRoot(tree: SchematicTree, sourceRoot: string): string | undefined {
  let found: string | undefined;
  tree.getDir(sourceRoot).visit((path) => {
    if (found !== undefined || !/\.[cm]?[jt]s$/.test(path) || /\.(spec|test|d)\.|\/node_modules\//.test(path))
      return;
    const text = readText(tree, path) ?? '';
    if (text.includes('forRoot') && text.includes('nest-lens') && callsForRoot(tokenize(text))) {
      found = path.replace(/^\//, '');
    }
  });
  return found;
}

/** The specifier of the groups' file in the root module: with the extension that its other imports have. */
function specifierOf(
  tree: SchematicTree,
  { path }: RootModule,
  groupsPath: string,
  statements: readonly ImportStatement[],
): string {
  const { dir, name, ext } = posix.parse(groupsPath);
  const relative = posix.relative(posix.dirname(path), posix.join(dir, name));
  const own = statements.map(({ specifier }) => specifier).filter((specifier) => specifier.startsWith('.'));
  const written = own
    .map((specifier) => /\.[cm]?[jt]s$/.exec(specifier)?.[0])
    .find((each) => each !== undefined);
  const isEsm = readJson(tree, 'package.json')?.['type'] === 'module' || /^\.m/.test(ext);
  const extension = written ?? (own.length === 0 && isEsm ? ext.replace('t', 'j') : '');
  return `./${relative}${extension}`;
}

function importEdits(
  code: string,
  statements: readonly ImportStatement[],
  added: readonly (readonly [name: string, specifier: string])[],
  { eol, quote, semicolon }: SourceStyle,
): TextEdit[] {
  const isCommonJs = statements.length === 0 && /\brequire\(/.test(code);
  const lines = added.map(([name, specifier]) =>
    isCommonJs
      ? `const { ${name} } = require(${quote}${specifier}${quote})${semicolon}`
      : `import { ${name} } from ${quote}${specifier}${quote}${semicolon}`,
  );
  if (lines.length === 0) return [];
  const last = statements.at(-1);
  if (last !== undefined) {
    const comment = /^[^\S\n]*\/\/[^\r\n]*/.exec(code.slice(last.end))?.[0] ?? '';
    return [{ at: last.end + comment.length, insert: eol + lines.join(eol) }];
  }
  const start = /^\uFEFF?(?:#![^\n]*\n)?/.exec(code)![0].length;
  return [{ at: start, insert: lines.join(eol) + eol + eol }];
}
