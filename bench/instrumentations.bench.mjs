/**
 * What an instrumentation costs beside its absence: ungated, gated and on, gated and off. CPU of an operation, so that a wait for a
 * database is none; all ways in turn, round after round, and ratios within a round.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { hasPostgres, startPostgres } from '../scripts/postgres-server.mjs';
import { startProcess } from './processes.mjs';
import { ratio, summarise } from './statistics.mjs';

/** A request that reads an order of the sample shop, by two queries: http, express and pg. */
export const SHOP = 'the sample shop';

/** @type {{ subject: string, count: number, hasDefault?: boolean, needs?: 'postgres' | 'redis' }[]} */
const SUBJECTS = [
  { subject: 'http', count: 400, hasDefault: true },
  { subject: 'http, express', count: 300, hasDefault: true },
  { subject: 'pg', count: 500, needs: 'postgres' },
  { subject: 'graphql', count: 500 },
  { subject: 'ioredis', count: 1_000, needs: 'redis' },
  { subject: SHOP, count: 300, hasDefault: true, needs: 'postgres' },
];
const CONNECTIONS = 4;
/** How many rounds' work before the first one that counts. */
const WARM_UP = 8;

async function ask(child, message) {
  child.send(message);
  const [answer] = await once(child, 'message');
  return answer;
}

/** Requests over connections that stay open: one by one on each, `count` together. */
async function sendRequests(port, path, count) {
  const request = `GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`;
  let left = count;
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      const socket = connect(port, '127.0.0.1');
      socket.setNoDelay(true);
      await once(socket, 'connect');
      while (left-- > 0) {
        socket.write(request);
        await once(socket, 'data');
      }
      socket.destroy();
    }),
  );
}

async function measure({ child, port, path, received = () => 0 }, count, spec) {
  await ask(child, { what: 'start', spec });
  const before = received();
  if (port === undefined) await ask(child, { what: 'operate', count });
  else await sendRequests(port, path, count);
  const { cpuUs, bytes = received() - before } = await ask(child, { what: 'stop' });
  return { us: cpuUs / count, bytes: bytes / count };
}

const startSubject = (subject, way, ports) =>
  startProcess('instrumentations.process.mjs', { subject, way, ports }, { flags: ['--expose-gc'] });

/** Takes whatever is exported to it, and counts its bytes. */
async function startCollector() {
  let bytes = 0;
  const server = createServer((request, response) => {
    request.on('data', (chunk) => (bytes += chunk.length)).on('end', () => response.end());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address();
  return { url: `http://127.0.0.1:${port}`, received: () => bytes, stop: () => server.close() };
}

function buildShop() {
  const compiler = fileURLToPath(new URL('../node_modules/typescript/bin/tsc', import.meta.url));
  const project = fileURLToPath(new URL('../sample-app', import.meta.url));
  const { status } = spawnSync(process.execPath, [compiler, '-p', project], { stdio: 'inherit' });
  if (status !== 0) throw new Error('The sample shop does not compile.');
}

async function startShop(way, { postgres }) {
  const collector = await startCollector();
  const child = startProcess(
    'shop.process.mjs',
    { way },
    {
      flags: ['--expose-gc', '--import', new URL('../sample-app/dist/tracing.js', import.meta.url).href],
      env: {
        DATABASE_URL: `postgres://postgres@127.0.0.1:${postgres}/postgres`,
        NEST_LENS_ENABLED: 'true',
        NEST_LENS_METRICS_ENABLED: 'false',
        OTEL_LOGS_EXPORTER: 'none',
        OTEL_BSP_MAX_QUEUE_SIZE: '100000',
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        ...(way === 'absent' ? { OTEL_NODE_ENABLED_INSTRUMENTATIONS: 'none' } : {}),
      },
    },
  );
  child.on('disconnect', collector.stop);
  return { child, received: collector.received };
}

async function start(subject, way, ports) {
  const started =
    subject === SHOP ? await startShop(way, ports) : { child: startSubject(subject, way, ports) };
  const [{ port, path = '/orders/1' }] = await once(started.child, 'message');
  return { ...started, port, path };
}

async function measureSubject({ subject, count, hasDefault = false }, rounds, ports) {
  const [absent, ungated, gated] = await Promise.all(
    ['absent', 'ungated', 'gated'].map((way) => start(subject, way, ports)),
  );
  /** @type {[name: string, process: typeof absent, spec: string][]} */
  const cases = [
    ['absent', absent, ''],
    // Of the shop, the spans of its own handlers too.
    ['ungated', ungated, 'all'],
    ['on', gated, 'all'],
    ...(hasDefault ? [['default', gated, 'default']] : []),
    ['off', gated, ''],
  ];
  const us = Object.fromEntries(cases.map(([name]) => [name, []]));
  const bytes = {};
  for (const [, server, spec] of cases) {
    // The gated one serves several cases, and V8 would know it better.
    const times = server === gated ? 1 : cases.length - 2;
    await measure(server, times * WARM_UP * count, spec);
  }
  for (let round = 0; round < rounds; round++) {
    for (const [name, server, spec] of round % 2 === 0 ? cases : cases.toReversed()) {
      const measured = await measure(server, count, spec);
      us[name].push(measured.us);
      bytes[name] = measured.bytes;
    }
  }
  for (const { child } of [absent, ungated, gated]) child.disconnect();
  return {
    subject,
    us: summarise(us.absent),
    ...Object.fromEntries(cases.slice(1).map(([name]) => [`${name}Ratio`, ratio(us[name], us.absent)])),
    onToUngated: ratio(us.on, us.ungated),
    bytes,
  };
}

const REDIS = '/usr/bin/redis-server';

/** @returns {Promise<{ port: number, stop(): Promise<void> }>} */
async function startRedis() {
  const port = 20_000 + (process.pid % 20_000);
  const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const child = spawn(REDIS, options, { cwd: tmpdir(), stdio: ['ignore', 'pipe', 'ignore'] });
  await new Promise((resolve, reject) => {
    child.stdout.on('data', (chunk) => String(chunk).includes('Ready to accept') && resolve(undefined));
    child.on('exit', () => reject(new Error('redis-server did not start')));
  });
  return {
    port,
    async stop() {
      child.kill();
      await once(child, 'exit');
    },
  };
}

/** @returns {Promise<object[]>} a row for each instrumentation whose server is installed */
export async function runInstrumentations({ rounds = 25 } = {}) {
  const servers = {
    postgres: hasPostgres() ? await startPostgres() : undefined,
    redis: existsSync(REDIS) ? await startRedis() : undefined,
  };
  const ports = { postgres: servers.postgres?.port, redis: servers.redis?.port };
  try {
    const rows = [];
    for (const subject of SUBJECTS) {
      if (subject.needs && servers[subject.needs] === undefined) continue;
      if (subject.subject === SHOP) buildShop();
      rows.push(await measureSubject(subject, rounds, ports));
    }
    return rows;
  } finally {
    await Promise.all(Object.values(servers).map(async (server) => server?.stop()));
  }
}
