import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEachTest } from './after-each-test.js';

const folders: string[] = [];

afterEachTest(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A folder of its own for one test. */
export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'nest-lens-spec-'));
  folders.push(folder);
  return folder;
}

/** Puts a whole file in the place of another one, at once, as deployment tools do. */
export function swapIn(path: string, content: string | Uint8Array): void {
  writeFileSync(`${path}.new`, content);
  renameSync(`${path}.new`, path);
}

let versions = 0;

/** Changes a folder as Kubernetes does with a mounted ConfigMap: the files are links into `..data`, which is a link, and is swapped. */
export function updateConfigMap(folder: string, files: Record<string, string>): void {
  const version = `..2026_11_29_${++versions}`;
  mkdirSync(join(folder, version));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, version, name), content);
  symlinkSync(version, join(folder, '..data_tmp'));
  renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
  for (const name of Object.keys(files)) {
    try {
      symlinkSync(join('..data', name), join(folder, name));
    } catch {
      // It is there since the first version.
    }
  }
}
