// A real application in processes of its own: started early, told to stop, and run beside a vendor's distribution.
// MAIN is the file that starts it, DISTRIBUTION the package that is loaded first where there is one.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import net from 'node:net';
import { ShopProcess, startCollector } from './shop-process.mjs';

const { DISTRIBUTION, NEST_LENS_COMPAT_REPORT, NEST } = process.env;
const HANDLER = 'OrdersController.list';
const HTTP = '@opentelemetry/instrumentation-http';
/** Measured: 1 ms; a busy machine may add some. Waiting for the collector would take a second and more. */
const MAX_DELAY_MS = 500;
/** The cell with Nest 12 has it. */
const ALL_INSTRUMENTATIONS = '@opentelemetry/auto-instrumentations-node/register';
const HOOKS = ['onModuleDestroy', 'beforeApplicationShutdown', 'onApplicationShutdown'];

/** The one handler span is below the server span of the instrumentation, and every parent in between was exported. */
function expectUnderServerSpan({ spans, named }) {
  const [handler, ...more] = named(HANDLER);
  assert.deepEqual(more, [], `${HANDLER} is there more than once`);
  const above = [];
  for (let span = handler; span; span = spans.find(({ spanId }) => spanId === span.parentSpanId)) {
    above.push(span);
  }
  const top = above.at(-1);
  assert.deepEqual(
    [top.scope, !top.parentSpanId],
    [HTTP, true],
    `above it: ${above.map(({ name }) => name)}`,
  );
  assert.ok(above.length > 1);
  assert.equal(new Set(spans.map(({ spanId }) => spanId)).size, spans.length, 'a span came twice');
}

async function expectTelemetry(shop, telemetry) {
  const document = JSON.parse(await shop.get('/lens/groups'));
  const { enabled, exporting, mode } = document.telemetry;
  assert.deepEqual({ enabled, exporting, mode }, telemetry);
  assert.deepEqual(document.enabled, ['orders']);
}

async function startsEarly() {
  const collector = await startCollector();
  const shop = new ShopProcess({ preloads: ['nest-lens/register'], env: collector.env });
  assert.equal(await shop.get('/orders'), '["anvil"]');
  await expectTelemetry(shop, { enabled: true, exporting: true, mode: 'own' });
  assert.equal(await shop.kill('SIGTERM'), 'SIGTERM');
  collector.stop();
  expectUnderServerSpan(collector);
  // None that nothing is registered, and none that an instrumentation came too late. One may say that Nest's own
  // instrumentation, which is among those of the package with all of them, traces each handler, too.
  const warnings = shop.warnings().filter((line) => !line.includes('instrumentation-nestjs-core'));
  assert.deepEqual(warnings, []);
}

async function choosesInstrumentations() {
  const collector = await startCollector();
  const shop = new ShopProcess({
    preloads: ['nest-lens/register'],
    env: { ...collector.env, OTEL_NODE_DISABLED_INSTRUMENTATIONS: 'http,express,nestjs-core,router,net,dns' },
  });
  await shop.get('/orders');
  await shop.kill('SIGTERM');
  collector.stop();
  assert.equal(collector.named(HANDLER).length, 1);
  assert.deepEqual(
    collector.spans.filter(({ scope }) => /instrumentation-(http|express)/.test(scope)),
    [],
  );
}

/** With `instrumentationGroups` the spec decides which spans of the instrumentations there are, whoever has loaded these. */
async function gatesInstrumentations({ preloads, mode }) {
  const collector = await startCollector();
  const shop = new ShopProcess({
    preloads,
    env: {
      ...collector.env,
      ...(mode === 'attach' && { MODE: mode }),
      NEST_LENS_INSTRUMENTATION_GROUPS: 'true',
      NEST_LENS_SPAN_GROUPS: 'orders,http_server',
    },
  });
  assert.equal(await shop.get('/orders'), '["anvil"]');
  const { telemetry, enabled, groups } = JSON.parse(await shop.get('/lens/groups'));
  assert.equal(telemetry.mode, mode);
  assert.deepEqual(enabled, ['http_server', 'orders']);
  // Another's SDK doesn't say which instrumentations there are, so their groups come with their first spans.
  const name = mode === 'own' ? 'express' : 'http_server';
  const { kind, scope } = groups.find((group) => group.name === name);
  assert.equal(kind, 'instrumentation');
  assert.equal(scope, mode === 'own' ? '@opentelemetry/instrumentation-express' : HTTP);
  await shop.kill('SIGTERM');
  collector.stop();
  const [handler, ...more] = collector.named(HANDLER);
  assert.deepEqual(more, [], `${HANDLER} is there more than once`);
  const server = collector.spans.find(({ spanId }) => spanId === handler.parentSpanId);
  assert.equal(server?.scope, HTTP, 'the handler is not below the server span');
  const setUpAt = Number(handler.startTimeUnixNano);
  const ungated = collector.spans.filter(
    ({ scope, startTimeUnixNano }) =>
      scope !== 'nest-lens' && scope !== HTTP && Number(startTimeUnixNano) >= setUpAt,
  );
  assert.deepEqual([...new Set(ungated.map(({ scope }) => scope))], []);
}

let files = 0;

/** A shop that exports to a file by code, and nothing before it ends. */
function shopWithFile(env = {}) {
  const file = `spans-${files++}.txt`;
  const shop = new ShopProcess({ env: { SPANS_FILE: file, ...env } });
  return {
    shop,
    names: () => (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []),
  };
}

async function stopsAt(signal) {
  const { shop, names } = shopWithFile();
  await shop.get('/orders');
  assert.deepEqual(names(), []);
  assert.equal(await shop.kill(signal), signal);
  assert.deepEqual(names(), [HANDLER, ...HOOKS, '(shutdown)']);
  assert.deepEqual(shop.warnings(), []);
}

async function survivesHook(hook) {
  const { shop, names } = shopWithFile({ THROW_IN: hook });
  await shop.get('/orders');
  await shop.kill('SIGTERM');
  assert.match(shop.output, new RegExp(`thrown in ${hook}`));
  // Nest 11 ends the process there, with what waits.
  assert.deepEqual(names(), NEST === '12' ? [HANDLER, ...HOOKS, '(shutdown)'] : []);
}

/** What `NOTE_TIMES` makes a shop say: hook -> milliseconds after the signal. */
async function hookTimes(env) {
  const shop = new ShopProcess({ env: { NOTE_TIMES: '1', ...env } });
  await shop.get('/orders');
  await shop.kill('SIGTERM');
  return new Map([...shop.output.matchAll(/AFTER (\S+) (\d+)/g)].map(([, what, ms]) => [what, Number(ms)]));
}

/** A collector that is away, or hangs, delays no hook of the application, nor the closing of its port. */
async function holdsNothingUp() {
  const hanging = net.createServer((socket) => socket.resume().on('error', () => undefined));
  const away = net.createServer();
  for (const server of [hanging, away]) await once(server.listen(0, '127.0.0.1'), 'listening');
  const [hangingUrl, awayUrl] = [hanging, away].map((server) => `http://127.0.0.1:${server.address().port}`);
  away.close();
  const without = await hookTimes({ WITHOUT_LENS: '1' });
  assert.equal(without.size, 3 * HOOKS.length + 1);
  for (const url of [awayUrl, hangingUrl]) {
    const times = await hookTimes({ OTEL_EXPORTER_OTLP_ENDPOINT: url });
    assert.deepEqual([...times.keys()], [...without.keys()]);
    for (const [what, ms] of times) {
      assert.ok(ms - without.get(what) < MAX_DELAY_MS, `${what} came ${ms - without.get(what)} ms later`);
    }
  }
  hanging.close();
}

/** Beside a distribution, which keeps its provider, its processors and its shutdown. */
async function attaches({ mode, end, preloads = [DISTRIBUTION] }) {
  const collector = await startCollector();
  const shop = new ShopProcess({
    preloads,
    env: { ...collector.env, OTEL_SERVICE_NAME: 'shop', ...(mode && { MODE: mode }) },
  });
  assert.equal(await shop.get('/orders'), '["anvil"]');
  await expectTelemetry(shop, { enabled: true, exporting: true, mode: 'attach' });
  if (end === 'close') {
    await shop.get('/close');
    assert.deepEqual(JSON.parse(await shop.says(/FACTS (.*)\n/)), {
      isKept: true,
      processorsAdded: 0,
      shutdowns: 0,
    });
    assert.equal(await shop.exited, 0);
    assert.equal(collector.named('after the close').length, 1, 'it ended with the application');
    for (const hook of HOOKS) assert.equal(collector.named(hook).length, 1, hook);
  } else {
    // How it ends is the distribution's business, which listens to the signal too.
    await shop.kill(end);
  }
  collector.stop();
  expectUnderServerSpan(collector);
  const resources = new Set(collector.spans.map(({ resource }) => JSON.stringify(resource)));
  assert.equal(resources.size, 1);
  const { resource } = collector.spans[0];
  assert.deepEqual([resource['service.name'], 'nestlens.run_id' in resource], ['shop', false]);
  assert.ok(resource['telemetry.distro.name'], "the resource is not the distribution's");
  const warnings = shop.warnings();
  assert.equal(warnings.length, mode === 'own' ? 1 : 0, warnings.join('\n'));
  if (mode === 'own') assert.match(warnings[0], /provider/);
}

const checks = DISTRIBUTION
  ? [
      () => attaches({ mode: 'attach', end: 'close' }),
      () => attaches({ mode: 'own', end: 'close' }),
      // Which then has nothing to start.
      () => attaches({ end: 'close', preloads: [DISTRIBUTION, 'nest-lens/register'] }),
      () => attaches({ end: 'SIGTERM' }),
    ]
  : [
      startsEarly,
      choosesInstrumentations,
      () => gatesInstrumentations({ preloads: ['nest-lens/register'], mode: 'own' }),
      ...(NEST === '12'
        ? [() => gatesInstrumentations({ preloads: [ALL_INSTRUMENTATIONS], mode: 'attach' })]
        : []),
      () => stopsAt('SIGTERM'),
      () => stopsAt('SIGINT'),
      ...HOOKS.map((hook) => () => survivesHook(hook)),
      holdsNothingUp,
    ];

// Two at a time: each mostly waits for a process that loads.
const work = async () => {
  for (let check = checks.shift(); check; check = checks.shift()) await check();
};
await Promise.all([work(), work()]);
appendFileSync(NEST_LENS_COMPAT_REPORT, `${JSON.stringify({ node: process.versions.node })}\n`);
