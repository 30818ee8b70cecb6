/** Starts a PostgreSQL of its own, for tests and benches. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where Debian's package puts the programs. */
const BIN = '/usr/lib/postgresql/15/bin';
const STARTS_WITHIN_MS = 60_000;

/** PostgreSQL refuses to run as root, and any other user will do: this one is `nobody`. */
const NOBODY = 65_534;

/** Whether the server is installed. Where it isn't, what needs it is skipped. */
export function hasPostgres() {
  return existsSync(`${BIN}/postgres`) && existsSync(`${BIN}/initdb`);
}

/**
 * On the loopback, with a user and a database `postgres` and no password.
 *
 * @returns {Promise<{ port: number, stop(): Promise<void> }>}
 */
export async function startPostgres() {
  const folder = mkdtempSync(join(tmpdir(), 'nest-lens-postgres-'));
  const isRoot = process.getuid?.() === 0;
  if (isRoot) chownSync(folder, NOBODY, NOBODY);
  const as = { cwd: folder, ...(isRoot ? { uid: NOBODY, gid: NOBODY } : {}) };
  const data = join(folder, 'data');
  const initArguments = [
    '-D',
    data,
    '-A',
    'trust',
    '-U',
    'postgres',
    '--no-sync',
    '--no-locale',
    '-E',
    'UTF8',
  ];
  let output = spawnSync(`${BIN}/initdb`, initArguments, { ...as, encoding: 'utf8' }).stderr;
  const port = await freePort();
  const options = ['-D', data, '-h', '127.0.0.1', '-p', String(port), '-k', folder, '-F'];
  const child = spawn(`${BIN}/postgres`, [...options, '-c', 'shared_buffers=16MB'], {
    ...as,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'exit');
  const stop = async () => {
    // "Fast": it ends the sessions that are open.
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGINT');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  const timer = setTimeout(() => child.kill('SIGKILL'), STARTS_WITHIN_MS);
  const ready = new Promise((resolve) => {
    child.stderr.on('data', (chunk) => {
      output += String(chunk);
      if (output.includes('ready to accept connections')) resolve(undefined);
    });
  });
  const isReady = await Promise.race([ready.then(() => true), ended.then(() => false)]);
  clearTimeout(timer);
  if (isReady) return { port, stop };
  await stop();
  throw new Error(`PostgreSQL did not start: ${output}`);
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
