import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect, createServer } from 'node:net';

/** Where Debian's package puts it. */
const PROGRAM = '/usr/bin/redis-server';

/**
 * Starts a Redis of its own on the loopback. Undefined where it isn't installed.
 * @param {string} folder
 */
export async function startRedis(folder) {
  if (!existsSync(PROGRAM)) return undefined;
  const port = await freePort();
  const args = [
    '--port',
    `${port}`,
    '--bind',
    '127.0.0.1',
    '--dir',
    folder,
    '--save',
    '',
    '--appendonly',
    'no',
  ];
  const child = spawn(PROGRAM, args, { stdio: 'ignore' });
  const giveUpAt = Date.now() + 5_000;
  while (!(await listens(port))) {
    if (child.exitCode !== null || Date.now() > giveUpAt) throw new Error('redis-server did not start');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return { url: `redis://127.0.0.1:${port}`, stop: () => child.kill('SIGKILL') };
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  server.close();
  return port;
}

/** @param {number} port */
function listens(port) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true));
    socket.on('error', () => resolve(false)).on('connect', () => socket.destroy());
  });
}
