// The sample shop under load for a long time, while its collector comes and goes, the spec changes each second and clients
// leave in the middle of a request. Nothing may grow, no span may be lost or sent twice while the collector is up, and each
// span that is lost while it is down has to be accounted for.
//
//   npm run soak                    ten minutes; what comes out goes into bench/RESULTS.md
//   npm run soak -- --seconds 60
import { fork } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { writeFormatted, writeResultsPage } from '../bench/results-page.mjs';
import { soakSection } from '../bench/write-up.mjs';

const index = process.argv.indexOf('--seconds');
const seconds = index === -1 ? 600 : Number(process.argv[index + 1]);
const root = fileURLToPath(new URL('..', import.meta.url));
const SPECS = ['all', 'default', 'per_request', 'all,-orders', '*', 'nothing_of_the_kind', ''];
const CLIENTS = 6;

const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Answers until it is told to go; then what it is answering is answered, and nobody listens any more. */
class Collector {
  received = new Map();
  doubles = 0;
  /** What the counter of spans said last, over all groups. */
  counted = 0;
  /** [from, to] in milliseconds since the epoch. */
  outages = [];
  #server;

  async start(port = 0) {
    this.#server = http.createServer((request, response) => {
      const chunks = [];
      request.on('data', (chunk) => chunks.push(chunk));
      request.on('end', () => {
        const { resourceSpans = [], resourceMetrics = [] } = JSON.parse(Buffer.concat(chunks));
        for (const { scopeMetrics } of resourceMetrics) {
          const counter = scopeMetrics
            .flatMap(({ metrics }) => metrics)
            .find(({ name }) => name === 'nestlens.spans');
          const points = counter?.sum?.dataPoints ?? [];
          if (points.length > 0)
            this.counted = points.reduce((sum, { asInt, asDouble }) => sum + Number(asInt ?? asDouble), 0);
        }
        for (const { scopeSpans } of resourceSpans) {
          for (const { spanId, traceId } of scopeSpans.flatMap(({ spans }) => spans)) {
            const id = traceId + spanId;
            if (this.received.has(id)) this.doubles++;
            this.received.set(id, true);
          }
        }
        response.setHeader('content-type', 'application/json').end('{}');
      });
    });
    this.#server.listen(port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.port = this.#server.address().port;
    if (this.outages.length > 0) this.outages.at(-1)[1] = Date.now();
  }

  async stop() {
    this.outages.push([Date.now(), Infinity]);
    this.#server.close();
    // A connection that is kept alive becomes idle once it was answered.
    const closing = setInterval(() => this.#server.closeIdleConnections(), 10);
    await once(this.#server, 'close');
    clearInterval(closing);
  }
}

function visit(url, { method = 'GET', body, leaveAfter } = {}) {
  return new Promise((resolve) => {
    const request = http.request(url, {
      method,
      headers: body ? { 'content-type': 'application/json' } : {},
    });
    request.on('response', (response) => response.resume().on('close', () => resolve(response.statusCode)));
    request.on('error', () => resolve(undefined));
    if (leaveAfter !== undefined) setTimeout(() => request.destroy(), leaveAfter);
    request.end(body);
  });
}

const ORDER = JSON.stringify({ lines: [{ productId: 1, quantity: 1 }], card: '4242424242424242' });
const VISITS = [
  { path: '/products' },
  { path: '/products/1' },
  { path: '/products/999', status: 404 },
  { path: '/reports/revenue', status: 500 },
  { path: '/lens/groups' },
  { path: '/products', leaveAfter: 1 },
  { path: '/orders/1/status', leaveAfter: 15 },
  { path: '/orders', method: 'POST', body: ORDER },
  { path: '/orders', method: 'POST', body: ORDER, leaveAfter: 2 },
];

const collector = new Collector();
await collector.start();
const shop = fork(fileURLToPath(new URL('soak/shop.mjs', import.meta.url)), {
  env: {
    ...process.env,
    SOAK_COLLECTOR: `http://127.0.0.1:${collector.port}`,
    OTEL_LOGS_EXPORTER: 'none',
    OTEL_METRICS_EXPORTER: 'otlp',
    OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: 'http/json',
    OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `http://127.0.0.1:${collector.port}/v1/metrics`,
    OTEL_METRIC_EXPORT_INTERVAL: '2000',
    OTEL_METRIC_EXPORT_TIMEOUT: '1000',
    // So small that an outage fills it.
    OTEL_BSP_SCHEDULE_DELAY: '200',
    OTEL_BSP_MAX_QUEUE_SIZE: '512',
    OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '256',
  },
});
shop.once('exit', (code) => {
  if (code !== 0) throw new Error(`the shop ended with ${code}`);
});
const answer = async (key) => {
  for (;;) {
    const [message] = await once(shop, 'message');
    if (message[key] !== undefined) return message[key];
  }
};
const ask = (question, key) => {
  const answered = answer(key);
  shop.send({ ask: question });
  return answered;
};

const url = await answer('url');
const before = await ask('rest', 'resting');
const began = Date.now();
const isOver = () => Date.now() - began > seconds * 1_000;
let visits = 0;
/** Answers that nobody expected: which, and when last. */
const unexpected = new Map();
const clients = Array.from({ length: CLIENTS }, async (_, client) => {
  for (let turn = client; !isOver(); turn++) {
    const { path, status = 200, ...options } = VISITS[turn % VISITS.length];
    const answered = await visit(url + path, options);
    visits++;
    // An order is taken, or refused when nothing is left.
    const isExpected = options.body ? [201, 409].includes(answered) : answered === status;
    if (!isExpected && options.leaveAfter === undefined) unexpected.set(`${path} ${answered}`, visits);
    await sleep(2);
  }
});

const samples = [];
const chores = (async () => {
  for (let second = 0; !isOver(); second++) {
    shop.send({ spec: SPECS[second % SPECS.length] });
    // Up for ten seconds, away for five.
    if (second % 15 === 10) await collector.stop();
    if (second % 15 === 14) await collector.start(collector.port);
    if (second % 5 === 4) samples.push(await ask('measure', 'measured'));
    await sleep(1_000);
  }
})();
await Promise.all([...clients, chores]);
if (collector.outages.at(-1)?.[1] === Infinity) await collector.start(collector.port);
// Let the last outage be over for exports, too, and the connections that are kept alive be closed.
http.globalAgent.destroy();
await sleep(3_000);
let after = await ask('rest', 'resting');
for (let second = 0; after.length > before.length + 1 && second < 10; second++) {
  await sleep(1_000);
  after = await ask('rest', 'resting');
}
samples.push(await ask('measure', 'measured'));
// The batch processor says how many it dropped when the next one fits.
shop.send({ spec: 'all' });
await visit(`${url}/products`);
const { counts, calls, failures, overflows, warnings } = await ask('close', 'closed');

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
const third = Math.max(1, Math.floor((samples.length - 1) / 3));
const early = samples.slice(1, 1 + third);
const late = samples.slice(-third);
const growth = (key) => [
  median(early.map((sample) => sample[key])),
  median(late.map((sample) => sample[key])),
];

const received = collector.received.size;
/** An export goes on trying for two seconds, so one that began just before an outage, or ends just after it, is a part of it. */
/** Whether something went wrong while the collector was away, or so many milliseconds later. */
const isInOutage =
  (afterwardsMs) =>
  ([from, to]) =>
    collector.outages.some(([gone, back]) => from <= back + afterwardsMs && to >= gone - 500);
const checks = {
  'every request was answered as it should be': unexpected.size === 0,
  'each call of a handler made one span while its group was on, and none while it was off':
    calls.wrong === 0 && Math.min(calls.on, calls.off) > seconds,
  'every span that was made was sent, failed, or dropped from a full queue':
    counts.made === counts.sent + counts.failed + counts.dropped,
  'every span that was sent arrived, and nothing else': received === counts.sent,
  "NestLens's own counter says how many were made": collector.counted === counts.made,
  'no span arrived twice': collector.doubles === 0,
  'no export failed while the collector was up': failures.every(isInOutage(500)),
  // An export that began in an outage goes on trying for two seconds, with the queue full behind it.
  'no span was dropped while the collector was up': overflows.every(isInOutage(2_500)),
  'the heap did not grow': growth('heap')[1] < growth('heap')[0] * 1.15 + 3e6,
  // The exporter keeps its connection to the collector.
  'no handle, socket or timer is left when the load is over': after.length <= before.length + 1,
  'the registry did not grow': growth('registry')[1] <= growth('registry')[0],
  'no span was left open': samples.at(-1).inFlight === 0,
  'the warnings kept are bounded': samples.at(-1).warningsKept <= 100,
};

const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;
const record = {
  at: new Date().toISOString(),
  seconds,
  node: process.versions.node,
  machine: `${cpus()[0]?.model.trim() ?? 'unknown'}, ${cpus().length} cores`,
  rows: [
    ['Requests', visits],
    ['Calls of handlers that were checked, group on and off', `${calls.on}, ${calls.off}`],
    ['Outages of the collector', collector.outages.length],
    ['Spans made', counts.made],
    ['received, once each', received],
    ['lost: the export failed', counts.failed],
    ['lost: the queue was full', counts.dropped],
    ['received twice', collector.doubles],
    [
      'Heap after garbage collection, first and last third (median)',
      growth('heap').map(megabytes).join(', '),
    ],
    ['Handles at rest, before and afterwards', `${before.length}, ${after.length}`],
    ['Names in the registry, first and last third', growth('registry').join(', ')],
    [
      'Warnings logged',
      Object.entries(warnings)
        .map(([code, count]) => `${code} ${count}`)
        .join(', ') || 'none',
    ],
  ],
  checks: Object.entries(checks),
};
console.log(soakSection(record));
if (seconds >= 600) {
  await writeFormatted(`${root}bench/soak.json`, JSON.stringify(record));
  await writeResultsPage();
}
for (const [answer, when] of unexpected) console.error(`unexpected: ${answer}, last at request ${when}`);
await collector.stop();
process.exitCode = Object.values(checks).every(Boolean) ? 0 : 1;
