// Installs what is missing in node_modules, and does and prints nothing when nothing is missing. It runs before
// anything is installed, so it may import nothing but Node's own modules.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const projectDirectory = fileURLToPath(new URL('..', import.meta.url));
const OLDEST_NODE = [20, 19];

/** @param {string} path */
function readJson(path) {
  try {
    return JSON.parse(readFileSync(`${projectDirectory}/${path}`, 'utf8'));
  } catch {
    return undefined;
  }
}

/**
 * npm keeps its own record of what it put into node_modules. Comparing that with the lockfile needs no stamp of ours,
 * so a plain `npm install` by hand counts as well.
 */
function findFirstDifference() {
  const locked = readJson('package-lock.json')?.packages ?? {};
  const installed = readJson('node_modules/.package-lock.json')?.packages;
  if (!installed) return 'node_modules is missing';
  for (const [path, entry] of Object.entries(locked)) {
    if (!path.startsWith('node_modules/')) continue;
    // An optional package that was made for another platform is never installed.
    if (!installed[path] && entry.optional) continue;
    if (installed[path]?.version !== entry.version || !existsSync(`${projectDirectory}/${path}`)) {
      return `${path} is missing or not ${entry.version ?? 'linked'}`;
    }
  }
  return undefined;
}

/** @param {string[]} args */
function runNpm(...args) {
  // npm tells its scripts where its own CLI is. On Windows `npm` is a .cmd file, which needs a shell to start.
  const npmCli = process.env.npm_execpath;
  const { status } = npmCli?.endsWith('.js')
    ? spawnSync(process.execPath, [npmCli, ...args], { cwd: projectDirectory, stdio: 'inherit' })
    : spawnSync('npm', args, {
        cwd: projectDirectory,
        stdio: 'inherit',
        shell: process.platform === 'win32',
      });
  return status === 0;
}

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1])) {
  console.error(`NestLens needs Node ${OLDEST_NODE.join('.')} or later; this is ${process.versions.node}.`);
  process.exit(1);
}

const difference = findFirstDifference();
if (difference) {
  const isFresh = !existsSync(`${projectDirectory}/node_modules`);
  console.error(`Installing the packages of package-lock.json (${difference}) ...`);
  // `npm ci` empties node_modules first, which would break whatever else runs in this checkout: it is for a fresh
  // clone and for CI. Otherwise npm brings the folder up to date in place; --no-save leaves the lockfile as it is.
  const isInstalled =
    isFresh || process.env.CI
      ? runNpm('ci', '--loglevel=error')
      : runNpm('install', '--no-save', '--loglevel=error');
  if (!isInstalled) {
    console.error(
      'The packages could not be installed: npm says why above. If package.json and package-lock.json disagree, ' +
        'run `npm install` and commit the lockfile.',
    );
    process.exit(1);
  }
}
