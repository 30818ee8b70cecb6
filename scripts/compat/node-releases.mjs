import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runNpm } from './run-command.mjs';

const cacheDirectory = fileURLToPath(new URL('../../node_modules/.cache/nest-lens-compat', import.meta.url));

/** The package with the binary for this machine: what the package `node` would fetch by an install script. */
function packageForThisMachine() {
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  const prefix = platform === 'darwin' && process.arch === 'arm64' ? 'node-bin' : 'node';
  return `${prefix}-${platform}-${process.arch}`;
}

/** @type {Map<string, Promise<string>>} */
const fetched = new Map();

/** Path of the `node` of one version, which is fetched once and kept in node_modules/.cache. @param {string} version */
export function fetchNode(version) {
  let binary = fetched.get(version);
  if (binary === undefined) {
    binary = install(version);
    fetched.set(version, binary);
  }
  return binary;
}

/** @param {string} version */
async function install(version) {
  const folder = join(cacheDirectory, `node-${version}`);
  const name = packageForThisMachine();
  const binary = join(
    folder,
    'node_modules',
    name,
    'bin',
    process.platform === 'win32' ? 'node.exe' : 'node',
  );
  if (existsSync(binary)) return binary;
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'package.json'), '{ "private": true }\n');
  const { status, output } = await runNpm(
    ['install', '--no-save', '--no-package-lock', '--prefer-offline', `${name}@${version}`],
    { cwd: folder },
  );
  if (status !== 0 || !existsSync(binary))
    throw new Error(`Node ${version} could not be fetched.\n${output}`);
  return binary;
}

/** An environment in which `node` is the given one. @param {string} binary @param {NodeJS.ProcessEnv} env */
export function withNode(binary, env) {
  return { ...env, PATH: `${dirname(binary)}${delimiter}${env.PATH}` };
}
