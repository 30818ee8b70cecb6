import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEachTest } from './after-each-test.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folders: string[] = [];

afterEachTest(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/**
 * A folder that resolves packages as the project does, with packages of its own besides.
 *
 * @returns its path, as seen from the folder of the fixtures
 */
export function folderWith(files: Record<string, string>): string {
  mkdirSync(`${root}temp`, { recursive: true });
  const folder = mkdtempSync(`${root}temp/early-`);
  folders.push(folder);
  for (const [name, content] of Object.entries(files)) {
    const path = `${folder}/${name}`;
    mkdirSync(path.slice(0, path.lastIndexOf('/')), { recursive: true });
    writeFileSync(path, content);
  }
  return `../../../temp/${folder.split('/').at(-1)!}`;
}
