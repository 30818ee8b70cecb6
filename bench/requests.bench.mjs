/** What a request costs in each variant of the same handler: through Nest's router alone, and on Express and Fastify. */
import { once } from 'node:events';
import { ROOMY } from './allocation.mjs';
import { runProcess, startProcess } from './processes.mjs';
import { joinRounds, median, ratio, summarise } from './statistics.mjs';

const NESTS = ['nest-11', 'nest-12'];

/** What a variant is compared with, besides the plain handler. */
const COUNTERPARTS = { 'interceptor-off': 'pass-through', 'interceptor-on': 'pass-through' };

const PEERS = ['nestjs-otel', 'amplication'];

function describeRoutes(rounds, bytes) {
  return Object.keys(rounds).map((route) => {
    const [variant, when] = route.split('/');
    const plain = `plain/${when}`;
    const counterpart = COUNTERPARTS[variant] && `${COUNTERPARTS[variant]}/${when}`;
    return {
      variant,
      later: when === 'later',
      ns: summarise(rounds[route]),
      toPlain: ratio(rounds[route], rounds[plain]),
      ...(counterpart && { toPassThrough: ratio(rounds[route], rounds[counterpart]) }),
      ...(PEERS.includes(variant) && { onToIt: ratio(rounds[`on/${when}`], rounds[route]) }),
      ...(route === 'plain/now' && { toNoLens: ratio(rounds[route], rounds['no-lens/now']) }),
      ...(route === 'served/now' && {
        moreNs: summarise(rounds[route].map((ns, round) => ns - rounds['served-no-lens/now'][round])),
      }),
      bytes: bytes[route],
      moreBytes: bytes[route] - bytes[plain],
    };
  });
}

/** Nest's route handlers without a socket. */
export async function runRouter({ short = false } = {}) {
  const amount = short ? { processes: 1, rounds: 10 } : { processes: 3, rounds: 25 };
  const results = [];
  for (const workspace of short ? ['project'] : NESTS) {
    for (const sdk of short ? [false] : [false, true]) {
      const task = { workspace, peers: !short && sdk, sdk };
      const runs = [];
      for (let i = 0; i < amount.processes; i++) {
        runs.push(await runProcess('router.process.mjs', { ...task, rounds: amount.rounds, slotMs: 3 }));
      }
      const bytes = await runProcess('router.process.mjs', { ...task, bytes: true }, { flags: ROOMY });
      results.push({ workspace, sdk, routes: describeRoutes(joinRounds(runs), bytes) });
    }
  }
  return results;
}

const CONNECTIONS = 10;
const REQUESTS = 1_000;

/** Talks to a server process: one message, one answer. */
async function ask(server, message) {
  server.send(message);
  const [answer] = await once(server, 'message');
  return answer;
}

async function measureVariant({ server, url, autocannon }, path) {
  await ask(server, 'start');
  const asking = autocannon({
    url: `${url}/${path}/now`,
    connections: CONNECTIONS,
    amount: REQUESTS,
    sampleInt: 50, // it ends with a sample
  });
  const begun = performance.now();
  let ended = begun;
  asking.on('response', () => (ended = performance.now()));
  const { non2xx, errors } = await asking;
  const us = ((ended - begun) * 1_000) / REQUESTS;
  const { bytes, cpuUs } = await ask(server, 'stop');
  if (non2xx + errors > 0) throw new Error(`${path}: ${non2xx} bad answers, ${errors} errors`);
  return { us, cpuUs: cpuUs / REQUESTS, bytes: bytes / REQUESTS };
}

async function openServer(autocannon, task) {
  const server = startProcess('server.process.mjs', task, { flags: ROOMY });
  const [{ url }] = await once(server, 'message');
  return { server, url, autocannon };
}

async function closeServer({ server }) {
  const ended = once(server, 'exit');
  server.disconnect();
  await ended;
}

/** Rounds over all variants, on one server or several. */
async function measureVariants(variants, rounds) {
  const taken = Object.fromEntries(variants.map(({ name }) => [name, { us: [], cpuUs: [], bytes: [] }]));
  for (const state of ['all on', 'some off']) {
    for (const at of new Set(variants.map((variant) => variant.at))) await ask(at.server, state);
    for (const { at, path } of variants) await measureVariant(at, path);
  }
  for (let round = 0; round < rounds; round++) {
    for (const { name, at, path } of round % 2 === 0 ? variants : variants.toReversed()) {
      const measured = await measureVariant(at, path);
      for (const [what, value] of Object.entries(measured)) taken[name][what].push(value);
    }
  }
  return taken;
}

const VARIANTS = [
  ...['plain', 'plain-again', 'off', 'on', 'pass-through', 'interceptor-off', 'interceptor-on'],
  ...PEERS,
];

/** On Express and Fastify, asked by autocannon. */
export async function runServers({ rounds = 5 } = {}) {
  const { load } = await import('./workspaces/nest-12/load.mjs');
  const { default: autocannon } = await load('autocannon');
  const results = [];
  for (const workspace of NESTS) {
    for (const adapter of ['express', 'fastify']) {
      const task = { workspace, adapter, peers: true };
      const at = await openServer(autocannon, task);
      const variants = VARIANTS.map((name) => ({ name, at, path: name }));
      // The instrumentation changes Nest itself, so it has a server of its own. Its latest version for Node 20 refuses Nest 12.
      const instrumented =
        workspace === 'nest-11' && (await openServer(autocannon, { ...task, instrumented: true }));
      if (instrumented) {
        variants.push({ name: 'instrumentation-nestjs-core', at: instrumented, path: 'plain' });
      }
      const taken = await measureVariants(variants, rounds);
      await closeServer(at);
      if (instrumented) await closeServer(instrumented);
      results.push({
        workspace,
        adapter,
        variants: Object.entries(taken).map(([variant, { us, cpuUs, bytes }]) => ({
          variant,
          us: summarise(us),
          cpuUs: summarise(cpuUs),
          bytes: summarise(bytes),
          toPlain: ratio(us, taken.plain.us),
          cpuToPlain: ratio(cpuUs, taken.plain.cpuUs),
          bytesToPlain: median(bytes) / median(taken.plain.bytes),
        })),
      });
    }
  }
  return results;
}
