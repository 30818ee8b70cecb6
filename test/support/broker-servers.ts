import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A message broker of its own for a test, on the loopback. */
export interface BrokerServer {
  readonly port: number;
  stop(): Promise<void>;
}

interface ServerKind {
  /** Where Debian's package puts the program. */
  readonly program: string;
  /** How long it may take until it listens. */
  readonly startsWithinMs: number;
  command(port: number, folder: string): { args: string[]; env?: Record<string, string> };
  /** Takes away what the program leaves running. */
  cleanUp?(env: Record<string, string>): void;
}

const KINDS = {
  redis: {
    program: '/usr/bin/redis-server',
    startsWithinMs: 5_000,
    command: (port, folder) => ({
      args: [
        '--port',
        String(port),
        '--bind',
        '127.0.0.1',
        '--dir',
        folder,
        '--save',
        '',
        '--appendonly',
        'no',
      ],
    }),
  },
  nats: {
    program: '/usr/sbin/nats-server',
    startsWithinMs: 5_000,
    command: (port) => ({ args: ['--addr', '127.0.0.1', '--port', String(port)] }),
  },
  mosquitto: {
    program: '/usr/sbin/mosquitto',
    startsWithinMs: 5_000,
    command: (port, folder) => {
      const file = join(folder, 'mosquitto.conf');
      writeFileSync(file, `listener ${port} 127.0.0.1\nallow_anonymous true\n`);
      return { args: ['-c', file] };
    },
  },
  rabbitmq: {
    program: '/usr/lib/rabbitmq/bin/rabbitmq-server',
    startsWithinMs: 60_000,
    command: (port, folder) => ({
      args: [],
      env: {
        HOME: folder,
        RABBITMQ_NODENAME: `nest-lens-${port}@localhost`,
        RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
        RABBITMQ_NODE_PORT: String(port),
        RABBITMQ_MNESIA_BASE: folder,
        RABBITMQ_LOG_BASE: folder,
        RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, 'plugins'),
        RABBITMQ_PID_FILE: join(folder, 'pid'),
        RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '+S 1:1 +sbwt none -kernel inet_dist_use_interface {127,0,0,1}',
        RABBITMQ_DIST_PORT: String(port + 1),
        ERL_EPMD_ADDRESS: '127.0.0.1',
        ERL_EPMD_PORT: String(port + 2),
      },
    }),
    // Erlang's port mapper outlives the server that started it.
    cleanUp: (env) => void spawnSync('epmd', ['-kill'], { env: { ...process.env, ...env } }),
  },
} satisfies Record<string, ServerKind>;

export type BrokerKind = keyof typeof KINDS;

/** Whether the server is installed. Where it isn't, the tests that need it are skipped. */
export function hasBroker(kind: BrokerKind): boolean {
  return existsSync(KINDS[kind].program);
}

/** @param given the port that it listens to; a free one if there is none */
export async function startBroker(kind: BrokerKind, given?: number): Promise<BrokerServer> {
  const { program, startsWithinMs, command, cleanUp }: ServerKind = KINDS[kind];
  const folder = mkdtempSync(join(tmpdir(), `nest-lens-${kind}-`));
  const port = given ?? (await freePort());
  const { args, env = {} } = command(port, folder);
  const child = spawn(program, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += String(chunk)));
  const stop = async (): Promise<void> => {
    await end(child);
    cleanUp?.(env);
    rmSync(folder, { recursive: true, force: true });
  };
  const giveUpAt = Date.now() + startsWithinMs;
  while (!(await listens(port))) {
    if (child.exitCode !== null || Date.now() > giveUpAt) {
      await stop();
      throw new Error(`${program} did not start: ${output}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return { port, stop };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await ended;
  clearTimeout(timer);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const settle = (isOpen: boolean) => () => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.once('connect', settle(true));
    socket.once('error', settle(false));
  });
}
