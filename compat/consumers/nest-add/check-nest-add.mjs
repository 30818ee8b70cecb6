// What Nest's command line makes of `nest new` and `nest add nest-lens`, in both layouts: the right files change, a second run
// changes nothing, and the application builds, starts by its own scripts and knows its group.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const CLI = join(import.meta.dirname ?? process.cwd(), 'node_modules/@nestjs/cli/bin/nest.js');
/** `nest start` compiles first, on a machine that may have much else to do. */
const WAIT_MS = 180_000;

function nest(cwd, ...args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, ...args], { cwd, encoding: 'utf8' });
  assert.equal(status, 0, `nest ${args.join(' ')}\n${stdout}${stderr}`);
  return stdout + stderr;
}

/** Every file of a workspace. The packages are found in the folder above it. */
const filesOf = (folder) =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !/node_modules|dist/.test(entry.parentPath))
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [path.slice(folder.length + 1).replaceAll('\\', '/'), readFileSync(path, 'utf8')]),
  );

/** Adds NestLens twice, and gives the files that the first time has changed. */
function add(folder, ...args) {
  const before = filesOf(folder);
  nest(folder, 'add', 'nest-lens', '--skip-install', ...args);
  const after = filesOf(folder);
  const said = nest(folder, 'add', 'nest-lens', '--skip-install', ...args);
  assert.match(said, /has NestLensModule.forRoot already/);
  assert.deepEqual(filesOf(folder), after, 'A second run changes nothing.');
  return Object.keys(after)
    .filter((path) => before[path] !== after[path])
    .sort();
}

async function freePort() {
  const server = createServer().listen(0);
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
}

/** Starts an application by a script of its package.json, and asks it what it knows. */
async function groupsOf(folder, script) {
  const port = await freePort();
  const child = spawn('npm', ['run', script], {
    cwd: folder,
    env: { ...process.env, PORT: String(port), NEST_LENS_ENABLED: 'true', NEST_LENS_EXPORTER: 'none' },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  try {
    for (const until = Date.now() + WAIT_MS; Date.now() < until; await delay(250)) {
      const response = await fetch(`http://127.0.0.1:${port}/lens/groups`).catch(() => undefined);
      if (response?.ok) return await response.json();
    }
    throw new Error(`npm run ${script} doesn't answer:\n${output}`);
  } finally {
    process.kill(-child.pid, 'SIGTERM');
    await once(child, 'close');
  }
}

/** The types of the test runner aren't installed here. */
function leaveOutTestTypes(folder) {
  const path = join(folder, 'tsconfig.json');
  writeFileSync(path, readFileSync(path, 'utf8').replace(/"vitest\/globals",?\s*/, ''));
}

nest('.', 'new', 'shop', '--skip-install', '--skip-git', '--package-manager', 'npm');
leaveOutTestTypes('shop');
assert.deepEqual(add('shop'), ['package.json', 'src/app.module.ts', 'src/app.span-groups.ts']);
nest('shop', 'build');
for (const script of ['start:prod', 'start']) {
  const { telemetry, namespaces, enabled } = await groupsOf('shop', script);
  assert.deepEqual(
    { telemetry: telemetry.exporting, namespaces, enabled },
    { telemetry: false, namespaces: ['shop'], enabled: ['requests'] },
    script,
  );
}

nest('.', 'new', 'market', '--skip-install', '--skip-git', '--package-manager', 'npm');
nest('market', 'generate', 'app', 'back-office');
leaveOutTestTypes('market');
assert.deepEqual(add('market', '--project', 'back-office'), [
  'apps/back-office/src/back-office.module.ts',
  'apps/back-office/src/back-office.span-groups.ts',
  'package.json',
]);
// A monorepo is bundled by default, by a bundler that isn't installed here. Nest's command line 11 wants it said in the file.
const settings = JSON.parse(readFileSync('market/nest-cli.json', 'utf8'));
settings.compilerOptions.webpack = false;
writeFileSync('market/nest-cli.json', JSON.stringify(settings));
nest('market', 'build', 'back-office', '--builder', 'tsc');

const { version } = JSON.parse(readFileSync('node_modules/@nestjs/cli/package.json', 'utf8'));
const note = `Nest's command line ${version}: standard and monorepo, start:prod and start`;
appendFileSync(
  process.env.NEST_LENS_COMPAT_REPORT,
  `${JSON.stringify({ node: process.versions.node, note })}\n`,
);
