import { isRecord, readJson, type SchematicTree } from './schematic-tree.js';

/** The options that `nest add` passes on, or that a person gives who runs the schematic by hand. */
export interface NestAddOptions {
  /** The folder of the sources of the project to change; Nest's command line gives it. */
  readonly sourceRoot?: string;
  /** A project of a monorepo, by its name in `nest-cli.json`. */
  readonly project?: string;
}

/** An application of a workspace. */
export interface NestProject {
  readonly sourceRoot: string;
  /** The file that starts it, without its extension: `main`. */
  readonly entryFile: string;
  /** The name for the namespace of its groups. */
  readonly name: string;
}

const CONFIG_FILES = ['nest-cli.json', '.nest-cli.json', 'nest.json', '.nestcli.json'];

/** The project that the options name, or the default one of the workspace. */
export function nestProjectOf(tree: SchematicTree, options: NestAddOptions): NestProject {
  const file = CONFIG_FILES.find((path) => tree.exists(path));
  const config = (file && readJson(tree, file)) || {};
  const projects = Object.entries(isRecord(config['projects']) ? config['projects'] : {}).flatMap(
    ([name, settings]) => (isRecord(settings) ? [{ name, settings }] : []),
  );
  const wanted = folderOf(options.sourceRoot) ?? folderOf(config['sourceRoot']);
  const project =
    projects.find(({ name }) => name === options.project) ??
    (options.project ? undefined : projects.find(({ settings }) => sourceRootOf(settings) === wanted));
  return {
    sourceRoot: (project && sourceRootOf(project.settings)) ?? wanted ?? 'src',
    entryFile: textOf(project?.settings['entryFile']) ?? textOf(config['entryFile']) ?? 'main',
    name: project?.name ?? packageName(tree) ?? 'app',
  };
}

function sourceRootOf(settings: Record<string, unknown>): string | undefined {
  const root = folderOf(settings['root']);
  return folderOf(settings['sourceRoot']) ?? (root === undefined ? undefined : `${root}/src`);
}

/** A folder without `./` and `/` around it. The command line writes `undefined` if it knows none. */
function folderOf(value: unknown): string | undefined {
  const folder = textOf(value)
    ?.replaceAll('\\', '/')
    .replace(/^(\.?\/)+|\/+$/g, '');
  return folder === '' || folder === 'undefined' ? undefined : folder;
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/** The name in package.json, without a scope. */
function packageName(tree: SchematicTree): string | undefined {
  return textOf(readJson(tree, 'package.json')?.['name'])?.replace(/^@[^/]*\//, '');
}
