// Builds the package:
//   dist/esm   what the compiler makes, a module for each source: the declarations, and for bundlers, which drop what isn't used
//   dist/node  its modules joined into a few files, which Node loads sooner
//   dist/cjs   the same as CommonJS
//
//   node scripts/build.mjs              builds; fails on any error of the compiler
//   node scripts/build.mjs --if-stale   builds only when the sources differ from those that dist was built from
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { joinModules } from './build/join-modules.mjs';

const projectDirectory = fileURLToPath(new URL('..', import.meta.url));
const compiler = join(projectDirectory, 'node_modules/typescript/bin/tsc');
const stampFile = join(projectDirectory, 'dist/built-from');

const PROJECT = 'tsconfig.build.json';
const COMPILED = 'dist/esm';
const ENTRIES = ['index', 'core', 'fallbacks', 'testing', 'register', 'eslint', 'cli/bin'];
const JOINED = [
  { directory: 'dist/node', format: 'esm', entries: ENTRIES },
  // Nest's schematics are CommonJS.
  { directory: 'dist/cjs', format: 'cjs', entries: [...ENTRIES, 'schematics/nest-add'] },
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
  const settings = ['tsconfig.json', PROJECT, 'package-lock.json', 'scripts/build.mjs'];
  const files = settings.map((name) => join(projectDirectory, name));
  for (const file of [...files, ...listFiles('scripts/build'), ...listFiles('src')]) {
    hash
      .update(`${file.slice(projectDirectory.length)}\0`)
      .update(readFileSync(file))
      .update('\0');
  }
  return hash.digest('hex');
}

/** The compiler never deletes, so the output of a source that was renamed would stay, and be published. */
function removeOrphans() {
  for (const file of listFiles(COMPILED)) {
    const source = file.replace(join(projectDirectory, COMPILED), join(projectDirectory, 'src'));
    if (!/\.(d\.ts|js)$/.test(file) || !existsSync(source.replace(/\.(d\.ts|js)$/, '.ts'))) rmSync(file);
  }
}

/** Resolves to the compiler's errors. */
async function compile() {
  let errors = '';
  try {
    await promisify(execFile)(process.execPath, [compiler, '-p', PROJECT, '--pretty', 'false'], {
      cwd: projectDirectory,
    });
  } catch (error) {
    errors = error.stdout || error.stderr || String(error);
  }
  mkdirSync(join(projectDirectory, COMPILED), { recursive: true });
  removeOrphans();
  return errors;
}

/** The folder is replaced when it is whole: somebody may read it meanwhile, and a failure leaves the former one. */
async function joinCompiled({ directory, format, entries }) {
  const from = join(projectDirectory, COMPILED);
  const to = join(projectDirectory, directory);
  const made = `${to}.${process.pid}`;
  try {
    await joinModules({ from, to: made, entries, format });
    // CommonJS has declarations of its own, or the compiler would take it for ES modules.
    if (format === 'cjs') cpSync(from, made, { recursive: true, filter: (path) => !path.endsWith('.js') });
    markFormat(made, format);
    rmSync(to, { recursive: true, force: true });
    renameSync(made, to);
  } catch (error) {
    // Another build was quicker.
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}

/** @param {string} directory @param {'esm' | 'cjs'} format */
function markFormat(directory, format) {
  const type = format === 'esm' ? 'module' : 'commonjs';
  // Bundlers read `sideEffects` in the nearest package.json, which is this one and not the package's own.
  const marker = JSON.stringify({ type, sideEffects: ['./register.js'] });
  writeFileSync(join(directory, 'package.json'), `${marker}\n`);
}

const isBuiltFrom = (fingerprint) => existsSync(stampFile) && readFileSync(stampFile, 'utf8') === fingerprint;

/** Resolves to the compiler's errors, or to an empty string. It emits JavaScript even when there are errors. */
export async function build({ onlyIfStale = false } = {}) {
  const fingerprint = fingerprintSources();
  if (onlyIfStale && isBuiltFrom(fingerprint)) return '';
  // The compiler's incremental record is right only as long as nobody touches its outputs: a full build drops both.
  if (!onlyIfStale) rmSync(join(projectDirectory, 'dist'), { recursive: true, force: true });
  // If the build fails or is killed, nobody may take what is left of it for fresh.
  rmSync(stampFile, { force: true });
  let errors = await compile();
  markFormat(join(projectDirectory, COMPILED), 'esm');
  try {
    await Promise.all(JOINED.map(joinCompiled));
  } catch (error) {
    errors += `${String(error)}\n`;
  }
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
