/** Writes RESULTS.md: the last full run of the benches, and the last long run of the soak. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { writeUp } from './write-up.mjs';

const pathOf = (name) => fileURLToPath(new URL(name, import.meta.url));
const read = (name) =>
  existsSync(pathOf(name)) ? JSON.parse(readFileSync(pathOf(name), 'utf8')) : undefined;

export async function writeFormatted(path, text) {
  const config = await resolveConfig(path);
  writeFileSync(path, await format(text, { ...config, filepath: path }));
}

/** From `results.json` and `soak.json`. */
export async function writeResultsPage() {
  await writeFormatted(pathOf('RESULTS.md'), writeUp(read('results.json'), read('soak.json')));
}
