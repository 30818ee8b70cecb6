// A newcomer's first five minutes: from an empty folder, with Nest's command line, by the commands of README's quickstart and no
// others, to the trace of a route on the screen; then with the group off. NEST says which Nest.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { quickstartCommands } from './quickstart-commands.mjs';
import { startStandInRegistry } from './stand-in-registry.mjs';
import { openTerminal } from './terminal.mjs';

const readJson = (path) => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'));
const tarball = readJson('package.json').dependencies['nest-lens'].replace(/^file:/, '');
const nest = process.env.NEST;
/** Spans are exported five seconds after they have ended, at the latest. */
const NO_TRACE_WITHIN_MS = 7_000;
const TRACE_WITHIN_MS = 30_000;

/** A port that is free just now: on 3000 something else may run. */
async function freePort() {
  const server = createServer().listen(0);
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

// Without what the npm that runs this has set.
const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(npm_|INIT_CWD$|NODE_OPTIONS$|NODE_ENV$)/i.test(name)),
);
const upstream = execFileSync('npm', ['config', 'get', 'registry'], { env, encoding: 'utf8' }).trim();
const registry = await startStandInRegistry({
  tarball,
  manifest: readJson('node_modules/nest-lens/package.json'),
  upstream,
});
const port = await freePort();
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'nest-lens-newcomer-')));
const terminal = openTerminal({
  folder,
  env: {
    ...env,
    PORT: String(port),
    NO_COLOR: '1',
    npm_config_registry: registry.url,
    npm_config_prefer_offline: 'true',
    // The newcomer presses Enter when npx asks.
    npm_config_yes: 'true',
  },
});
/** What README says, on the Nest and the port of this run. */
const here = (command) =>
  command.replace('@nestjs/cli', `@nestjs/cli@${nest}`).replace('localhost:3000', `localhost:${port}`);
const OWN_ROUTE = /^AppController\.getHello +[\d.]+ ms +requests$/m;

try {
  const { upToTheTrace, switchedOff } = quickstartCommands();
  const request = here(upToTheTrace.at(-1));
  assert.match(request, /^curl /);
  for (const command of upToTheTrace.slice(0, -2)) await terminal.type(here(command));

  const on = await terminal.serve(here(upToTheTrace.at(-2)));
  try {
    assert.match(await terminal.type(request), /Hello World!/);
    await on.until(OWN_ROUTE, TRACE_WITHIN_MS);
  } finally {
    await on.close();
  }

  const off = await terminal.serve(here(switchedOff));
  try {
    assert.match(await terminal.type(request), /Hello World!/);
    await new Promise((resolve) => setTimeout(resolve, NO_TRACE_WITHIN_MS));
    assert.doesNotMatch(off.written.text, /getHello/);
    const { enabled, groups } = JSON.parse(await terminal.type(`curl -s localhost:${port}/lens/groups`));
    assert.deepEqual(enabled, []);
    assert.deepEqual(
      groups.map(({ name }) => name),
      ['requests'],
    );
  } finally {
    await off.close();
  }

  // What `nest new` has made is as green as before.
  await terminal.type('npm test');
  const installed = JSON.parse(
    readFileSync(join(folder, 'shop/node_modules/@nestjs/core/package.json'), 'utf8'),
  ).version;
  assert.equal(installed.split('.')[0], nest);
  appendFileSync(
    process.env.NEST_LENS_COMPAT_REPORT,
    `${JSON.stringify({ node: process.versions.node, note: `${upToTheTrace.length} commands to a trace on Nest ${installed}` })}\n`,
  );
} finally {
  await registry.close();
  rmSync(folder, { recursive: true, force: true });
}
