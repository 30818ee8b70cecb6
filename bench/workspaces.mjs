/** The places that the benches take their packages from, each with its own node_modules, filled when it is first used. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const project = fileURLToPath(new URL('..', import.meta.url));
const at = (name, path = '') => fileURLToPath(new URL(`./workspaces/${name}/${path}`, import.meta.url));

/**
 * Packages that Nest loads if it finds them. The workspaces don't have them. The project above them does, and would bring another
 * Nest and another `reflect-metadata` into the process. A package without exports in the workspace counts as missing.
 */
const KEPT_OUT = ['@nestjs/websockets', '@nestjs/microservices'];

/** Whether npm has put into node_modules what the lockfile says; the copy of NestLens isn't in either. */
function isInstalled(name) {
  if (!existsSync(at(name, 'package-lock.json'))) return true; // it has no packages of its own
  const versions = (file) =>
    existsSync(at(name, file))
      ? Object.entries(JSON.parse(readFileSync(at(name, file), 'utf8')).packages)
          .filter(([path, { optional }]) => path !== '' && !optional)
          .map(([path, { version }]) => `${path}@${version}`)
          .join()
      : undefined;
  return versions('node_modules/.package-lock.json') === versions('package-lock.json');
}

/** Installs a workspace's packages if they are missing, and puts the built NestLens among them. */
export function prepareWorkspace(name) {
  if (!isInstalled(name)) {
    console.error(`Installing the packages of bench/workspaces/${name} ...`);
    const npm = process.env.npm_execpath;
    if (!npm) throw new Error('Run this with `npm run bench`: npm says where it is.');
    const { status } = spawnSync(process.execPath, [npm, 'ci', '--loglevel=error'], {
      cwd: at(name),
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    if (status !== 0) throw new Error(`npm could not install bench/workspaces/${name}.`);
  }
  for (const missing of KEPT_OUT) {
    const folder = at(name, `node_modules/${missing}`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(`${folder}/package.json`, JSON.stringify({ name: missing, exports: {} }));
  }
  // A copy, so that it finds the workspace's Nest and not the project's.
  const copy = at(name, 'node_modules/nest-lens');
  rmSync(copy, { recursive: true, force: true });
  for (const part of ['package.json', 'dist/esm', 'dist/node', 'dist/cjs']) {
    cpSync(`${project}${part}`, `${copy}/${part}`, { recursive: true });
  }
}
