/** The members that the schematic needs of the tree of Nest's command line: the files of the workspace, with forward slashes. */
export interface SchematicTree {
  read(path: string): Uint8Array | null;
  exists(path: string): boolean;
  create(path: string, content: string): void;
  overwrite(path: string, content: string): void;
  getDir(path: string): { visit(visitor: (path: string) => void): void };
}

/** The log in which the schematic reports what it did and what it left. */
export interface SchematicContext {
  readonly logger: { info(message: string): void; warn(message: string): void };
}

/** The text of a file; undefined if there is none. */
export function readText(tree: SchematicTree, path: string): string | undefined {
  const content = tree.exists(path) ? tree.read(path) : null;
  return content === null ? undefined : new TextDecoder('utf-8', { ignoreBOM: true }).decode(content);
}

/** The object in a JSON file, with comments and trailing commas allowed; undefined if there is none. */
export function readJson(tree: SchematicTree, path: string): Record<string, unknown> | undefined {
  const text = readText(tree, path);
  if (text === undefined) return undefined;
  const plain = text
    .replace(/^\uFEFF/, '')
    .replace(/("(?:[^"\\]|\\.)*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (_all, string?: string) => string ?? '')
    .replace(/("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])/g, (_all, string?: string) => string ?? '');
  try {
    const value: unknown = JSON.parse(plain);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
