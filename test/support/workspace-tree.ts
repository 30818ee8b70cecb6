import type { SchematicContext, SchematicTree } from '../../src/schematics/schematic-tree.js';
import { nestAdd } from '../../src/schematics/nest-add.js';
import type { NestAddOptions } from '../../src/schematics/nest-project.js';

/** A workspace in memory, with the part of Nest's tree that the schematic uses, and of what it says. */
export class WorkspaceTree implements SchematicTree {
  readonly files: Map<string, string>;
  readonly said: string[] = [];

  constructor(files: Record<string, string>) {
    this.files = new Map(Object.entries(files));
  }

  /** Runs `nest add`, and gives what it said this time. */
  add(options: NestAddOptions = { sourceRoot: 'src' }): string[] {
    const before = this.said.length;
    const note = (message: string): void => void this.said.push(message);
    const context: SchematicContext = {
      logger: { info: (message) => note(`info: ${message}`), warn: (message) => note(`warn: ${message}`) },
    };
    if (nestAdd(options)(this, context) !== this) throw new Error('A rule gives back the tree.');
    return this.said.slice(before);
  }

  text(path: string): string {
    const text = this.files.get(path);
    if (text === undefined) throw new Error(`There is no ${path}, only ${[...this.files.keys()].join(', ')}`);
    return text;
  }

  read(path: string): Uint8Array | null {
    const text = this.files.get(clean(path));
    return text === undefined ? null : new TextEncoder().encode(text);
  }

  exists(path: string): boolean {
    return this.files.has(clean(path));
  }

  create(path: string, content: string): void {
    if (this.exists(path)) throw new Error(`${path} is there already.`);
    this.files.set(clean(path), content);
  }

  overwrite(path: string, content: string): void {
    if (!this.exists(path)) throw new Error(`${path} isn't there.`);
    this.files.set(clean(path), content);
  }

  getDir(path: string): { visit(visitor: (path: string) => void): void } {
    return {
      visit: (visitor) => {
        for (const file of [...this.files.keys()])
          if (file.startsWith(`${clean(path)}/`)) visitor(`/${file}`);
      },
    };
  }
}

const clean = (path: string): string => path.replace(/^\.?\//, '');
