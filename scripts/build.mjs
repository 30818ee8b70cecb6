// Builds dist/esm and dist/cjs with one compiler run each, no bundler.
//
//   node scripts/build.mjs              builds; fails on any error of the compiler
//   node scripts/build.mjs --if-stale   builds only when the sources differ from those that dist was built from
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const projectDirectory = fileURLToPath(new URL('..', import.meta.url));
const compiler = join(projectDirectory, 'node_modules/typescript/bin/tsc');
const stampFile = join(projectDirectory, 'dist/built-from');

const VARIANTS = [
  { directory: 'dist/esm', project: 'tsconfig.build.json', type: 'module' },
  { directory: 'dist/cjs', project: 'tsconfig.build.cjs.json', type: 'commonjs' },
];

/** @param {string} directory */
function listFiles(directory) {
  return readdirSync(join(projectDirectory, directory), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/** A fingerprint of everything that decides what the build makes. Contents, not times: a checkout changes times. */
function fingerprintSources() {
  const hash = createHash('sha256');
  const settings = ['tsconfig.json', ...VARIANTS.map(({ project }) => project), 'package-lock.json'];
  const files = [...settings.map((name) => join(projectDirectory, name)), ...listFiles('src')];
  for (const file of [...files, fileURLToPath(import.meta.url)]) {
    hash
      .update(`${file.slice(projectDirectory.length)}\0`)
      .update(readFileSync(file))
      .update('\0');
  }
  return hash.digest('hex');
}

/** The compiler never deletes, so the output of a source that was renamed would stay, and be published. */
function removeOrphans(directory) {
  for (const file of listFiles(directory)) {
    const source = file.replace(join(projectDirectory, directory), join(projectDirectory, 'src'));
    if (!/\.(d\.ts|js)$/.test(file) || !existsSync(source.replace(/\.(d\.ts|js)$/, '.ts'))) rmSync(file);
  }
}

async function buildVariant({ directory, project, type }) {
  let errors = '';
  try {
    await promisify(execFile)(process.execPath, [compiler, '-p', project, '--pretty', 'false'], {
      cwd: projectDirectory,
    });
  } catch (error) {
    errors = error.stdout || error.stderr || String(error);
  }
  mkdirSync(join(projectDirectory, directory), { recursive: true });
  removeOrphans(directory);
  // Bundlers read `sideEffects` in the nearest package.json, which is this one and not the package's own.
  const marker = JSON.stringify({ type, sideEffects: ['./register.js'] });
  writeFileSync(join(projectDirectory, directory, 'package.json'), `${marker}\n`);
  return errors;
}

const isBuiltFrom = (fingerprint) => existsSync(stampFile) && readFileSync(stampFile, 'utf8') === fingerprint;

/** Resolves to the compiler's errors, or to an empty string. It emits JavaScript even when there are errors. */
export async function build({ onlyIfStale = false } = {}) {
  const fingerprint = fingerprintSources();
  if (onlyIfStale && isBuiltFrom(fingerprint)) return '';
  // The compiler's incremental record is right only as long as nobody touches its outputs: a full build drops both.
  if (!onlyIfStale) rmSync(join(projectDirectory, 'dist'), { recursive: true, force: true });
  const errors = (await Promise.all(VARIANTS.map(buildVariant))).join('');
  if (!errors) writeFileSync(stampFile, fingerprint);
  return errors;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const errors = await build({ onlyIfStale: process.argv.includes('--if-stale') });
  if (errors) {
    process.stderr.write(errors);
    process.exitCode = 1;
  }
}
