import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { folderWith } from '../support/folder-with.js';
import { once } from '../support/once.js';
import { startReceiver } from '../support/otlp-receiver.js';
import { type ShopProcess, startShop } from '../support/shop-process.js';

vi.setConfig({ testTimeout: 60_000 });

const root = fileURLToPath(new URL('../..', import.meta.url));
const fixtures = fileURLToPath(new URL('fixtures', import.meta.url));
const REGISTER = ['--import', 'nest-lens/register'];

/** An application that says what the early start has found: the name of its instrumentations, and whether there is an SDK. */
const FINDER = {
  'main.cjs': `
    const { trace } = require('@opentelemetry/api');
    console.log('FOUND', globalThis.instrumented, trace.getTracer('x').startSpan('x').isRecording());`,
  'node_modules/@opentelemetry/auto-instrumentations-node/index.js': `
    exports.getNodeAutoInstrumentations = () => [{
      instrumentationName: 'all', enable() {}, disable() {}, setTracerProvider() { globalThis.instrumented = 'all'; },
      setMeterProvider() {}, getConfig: () => ({ enabled: true }),
    }];`,
  'node_modules/@opentelemetry/auto-instrumentations-node/package.json': '{}',
};

/** An instrumentation that can't be loaded. */
const BROKEN = {
  'node_modules/@opentelemetry/instrumentation-express/index.js':
    'throw new Error("broken instrumentation");',
  'node_modules/@opentelemetry/instrumentation-express/package.json': '{}',
};

/** An exporter of a script's own, that keeps names in `kept`. */
const KEEPING = `
  const kept = [];
  const keeping = {
    export(spans, done) { kept.push(...spans.map(({ name }) => name)); done({ code: 0 }); },
    async shutdown() { kept.push('(shutdown)'); },
  };`;

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  await promisify(server.close.bind(server))();
  return port;
}

const foldersOutside: string[] = [];
afterEach(() => {
  for (const folder of foldersOutside.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A folder from which none of the project's packages can be found. */
function folderOutside(files: Record<string, string> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'nest-lens-early-'));
  foldersOutside.push(folder);
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  return folder;
}

async function telemetryOf(shop: ShopProcess): Promise<any> {
  return JSON.parse(await shop.get('/lens/groups'));
}

/** An application, and a worker thread that has nothing left to do before the process is told to end. */
async function serveWithWorker(flag: string) {
  const receiver = await startReceiver();
  const script = folderWith({
    'main.cjs': `
      const { isMainThread, Worker } = require('node:worker_threads');
      const { trace } = require('@opentelemetry/api');
      trace.getTracer('x').startSpan(isMainThread ? 'in the main thread' : 'in a worker').end();
      if (isMainThread) {
        new Worker(__filename).once('exit', () => console.log('WORKER ENDED'));
        require(${JSON.stringify(join(fixtures, 'shop.cjs'))});
      }`,
  });
  const shop = startShop({
    nodeArguments: [flag, 'nest-lens/register'],
    script: `${script}/main.cjs`,
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url },
  });
  const answer = await shop.get('/orders');
  const { telemetry, enabled } = await telemetryOf(shop);
  await shop.says(/WORKER ENDED/);
  const exit = await shop.kill('SIGTERM');
  return { answer, telemetry, enabled, exit, receiver, shop };
}

async function runAnotherCopy() {
  const script = folderWith({
    'main.cjs': `
      const { trace } = require('@opentelemetry/api');
      const { managedSpan, nestLensConfigFromEnv, setupTelemetry, SpanRegistry } = require('nest-lens/core');
      const { inFlight } = globalThis[Symbol.for('nest-lens.state.1')];
      async function main() {
        SpanRegistry.register('shop', ['orders']);
        const handle = await setupTelemetry({ ...nestLensConfigFromEnv(), runId: 'deploy-42', spanGroups: 'all' });
        trace.getTracer('x').startSpan('by hand');
        await managedSpan('orders', 'order', async (span) => {
          await null;
          const others = [...inFlight.others.keys()].map(({ name }) => name);
          console.log('SAW ' + JSON.stringify({ others, count: inFlight.count, isOn: span !== undefined }));
        });
        await handle.shutdown();
      }
      void main();`,
  });
  const started = startShop({
    nodeArguments: REGISTER,
    script: `${script}/main.cjs`,
    env: { NEST_LENS_EXPORTER: 'none' },
  });
  const seen = JSON.parse((await started.says(/SAW (.*)/))[1]!) as unknown;
  await started.exited;
  return { seen, warnings: started.warnings() };
}

// test/docs/start-scenarios.ts proves the rest: an ES module, an SDK that fails to start, a whole application that is off.
// test/lifecycle/set-up-again.spec.ts proves that instrumentations survive a shutdown and another set-up.

describe('nest-lens/register', () => {
  describe.each(['--require', '--import'])(
    'by %s, of a CommonJS application with a worker thread,',
    (flag) => {
      const served = once(() => serveWithWorker(flag));

      it('H3, H6: lets it have its HTTP spans, and judges the spec only at bootstrap', async () => {
        const { answer, telemetry, enabled, exit, receiver, shop } = await served();
        expect(answer).toBe('["anvil"]');
        expect([telemetry, enabled]).toMatchObject([
          { enabled: true, exporting: true, mode: 'own' },
          ['orders'],
        ]);
        expect(exit.signal ?? exit.code).toMatch(/SIGTERM|143|0/);
        const server = receiver.spans.find(({ name }) => name === 'GET /orders')!;
        const handler = receiver.spans.find(({ name }) => name === 'OrdersController.list')!;
        expect(server.scope.name).toBe('@opentelemetry/instrumentation-http');
        expect([handler.traceId, handler.parentSpanId]).toEqual([server.traceId, server.spanId]);
        expect(receiver.names().filter((name) => name === 'OrdersController.list')).toHaveLength(1);
        expect(shop.warnings()).toEqual([]);
      });

      it('H6: the worker thread has an SDK of its own', async () => {
        const { receiver, shop } = await served();
        const byHand = receiver.names().filter((name) => name.startsWith('in '));
        expect(byHand.sort()).toEqual(['in a worker', 'in the main thread']);
        expect(shop.output.replace(/READY \S+\n/, '')).toBe('WORKER ENDED\n');
      });
    },
  );

  it.each([
    ['H2', 'false', []],
    ['H12', 'perhaps', [expect.stringContaining('NEST_LENS_ENABLED')]],
  ])('%s: loads no SDK when NEST_LENS_ENABLED=%s keeps it off', async (_, value, warned) => {
    const script = folderWith({
      'main.cjs': `console.log('LOADED', Object.keys(require.cache).some((file) => file.includes('sdk-node')));`,
    });
    const started = startShop({
      nodeArguments: ['--require', 'nest-lens/register'],
      script: `${script}/main.cjs`,
      env: { NEST_LENS_ENABLED: value },
    });
    expect(await started.exited).toEqual({ code: 0, signal: null });
    expect(started.output).toContain('LOADED false\n');
    expect(started.warnings()).toEqual(warned);
  });

  it('H12: a wrong variable stops nothing, and is said once', async () => {
    const shop = startShop({
      nodeArguments: REGISTER,
      env: { NEST_LENS_EXPORTER: 'carrier-pigeon' },
    });
    expect(await shop.get('/orders')).toBe('["anvil"]');
    const { warnings } = await telemetryOf(shop);
    expect(warnings.map(({ code }: any) => code)).toContain('CONFIG_INVALID');
    await shop.kill('SIGTERM');
    expect(shop.warnings()).toHaveLength(1);
    expect(shop.output).toContain('NEST_LENS_EXPORTER');
  });

  it('H12: uses the instrumentations that there are if the package with all is not installed; a broken one is left out', async () => {
    const started = startShop({
      nodeArguments: ['--require', 'nest-lens/register'],
      script: `${folderWith({ 'main.cjs': FINDER['main.cjs'], ...BROKEN })}/main.cjs`,
      env: { NEST_LENS_EXPORTER: 'none', OTEL_NODE_ENABLED_INSTRUMENTATIONS: undefined },
    });
    await started.exited;
    expect(started.output).toContain('FOUND undefined true');
    expect(started.warnings()).toEqual([expect.stringContaining('instrumentation-express')]);
  });

  it('H9, H10: exports what an application without NestLens has made, and what is open, when its loop drains', async () => {
    const receiver = await startReceiver();
    const script = folderWith({
      'main.mjs': `
        import { trace } from '@opentelemetry/api';
        trace.getTracer('by hand').startSpan('open');
        trace.getTracer('by hand').startSpan('by hand').end();`,
    });
    const started = startShop({
      nodeArguments: REGISTER,
      script: `${script}/main.mjs`,
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url },
    });
    expect(await started.exited).toEqual({ code: 0, signal: null });
    expect(receiver.names().sort()).toEqual(['by hand', 'open']);
    const open = receiver.spans.find(({ name }) => name === 'open');
    expect(open?.attributes).toEqual({ 'nestlens.truncated': true });
    expect(started.output).toBe('');
  });

  it('H9: says once that a collector which hangs has not got what such an application has made', async () => {
    const receiver = await startReceiver();
    receiver.misbehaves = 'never answers';
    const script = folderWith({
      'main.mjs': `
        import { trace } from '@opentelemetry/api';
        trace.getTracer('by hand').startSpan('by hand').end();`,
    });
    const started = startShop({
      nodeArguments: REGISTER,
      script: `${script}/main.mjs`,
      // Longer than the limit, so that it is the limit which ends the wait.
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_EXPORTER_OTLP_TIMEOUT: '6000' },
    });
    expect(await started.exited).toEqual({ code: 0, signal: null });
    expect(started.warnings()).toEqual([expect.stringMatching(/could not be flushed within 5000 ms/)]);
  });

  it('H2: an application that says no ends what the environment began', async () => {
    const shop = startShop({
      nodeArguments: REGISTER,
      shop: { options: { config: { enabled: false } } },
    });
    expect(await shop.get('/orders')).toBe('["anvil"]');
    expect((await telemetryOf(shop)).telemetry).toEqual({ enabled: false, exporting: false, mode: null });
    await shop.kill('SIGTERM');
    expect(shop.warnings()).toEqual([]);
  });

  it('H2: such an application starts without waiting for a collector that hangs, and can set up later', async () => {
    const receiver = await startReceiver();
    receiver.misbehaves = 'never answers';
    const script = folderWith({
      'main.cjs': `
        const { trace } = require('@opentelemetry/api');
        const { managedSpan, nestLensConfigFromEnv, setupTelemetry, SpanRegistry } = require('nest-lens/core');
        ${KEEPING}
        async function main() {
          SpanRegistry.register('shop', ['orders']);
          trace.getTracer('x').startSpan('while it loads').end();
          const config = { ...nestLensConfigFromEnv(), spanGroups: 'all' };
          const began = performance.now();
          await setupTelemetry({ ...config, enabled: false });
          const tookMs = performance.now() - began;
          const handle = await setupTelemetry(config, { spanExporter: keeping });
          managedSpan('orders', 'later', () => undefined);
          await handle.shutdown();
          console.log('SAW ' + JSON.stringify({ tookMs, mode: handle.mode, kept }));
          process.exit();
        }
        void main();`,
    });
    const started = startShop({
      nodeArguments: REGISTER,
      script: `${script}/main.cjs`,
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url },
    });
    const { tookMs, ...seen } = JSON.parse((await started.says(/SAW (.*)/))[1]!);
    expect(tookMs).toBeLessThan(2_000);
    expect(seen).toEqual({ mode: 'own', kept: ['later', '(shutdown)'] });
    expect(started.warnings()).toEqual([]);
  });

  it.each([
    ['OTEL_TRACES_EXPORTER', { OTEL_TRACES_EXPORTER: 'none' }],
    ['NEST_LENS_TRACES_ENABLED', { NEST_LENS_TRACES_ENABLED: 'no' }],
  ])('H6: started without traces by %s, leaves them to a provider of the application', async (_, traces) => {
    const receiver = await startReceiver();
    const script = folderWith({
      'main.cjs': `
        const { trace } = require('@opentelemetry/api');
        const { BasicTracerProvider, BatchSpanProcessor } = require('@opentelemetry/sdk-trace-base');
        const { managedSpan, nestLensConfigFromEnv, setupTelemetry, SpanRegistry } = require('nest-lens/core');
        ${KEEPING}
        const provider = new BasicTracerProvider({ spanProcessors: [new BatchSpanProcessor(keeping)] });
        trace.setGlobalTracerProvider(provider);
        async function main() {
          SpanRegistry.register('shop', ['orders']);
          const handle = await setupTelemetry({ ...nestLensConfigFromEnv(), spanGroups: 'all' });
          managedSpan('orders', 'order', () => undefined);
          const { mode, isExporting } = handle;
          await handle.shutdown();
          const isLeft = trace.getTracerProvider().getDelegate() === provider;
          console.log('SAW ' + JSON.stringify({ mode, isExporting, kept, isLeft }));
        }
        void main();`,
    });
    const started = startShop({
      nodeArguments: REGISTER,
      script: `${script}/main.cjs`,
      env: { ...traces, NEST_LENS_METRICS_ENABLED: 'yes', OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url },
    });
    const seen = JSON.parse((await started.says(/SAW (.*)/))[1]!);
    expect(seen).toEqual({ mode: 'attach', isExporting: true, kept: ['order'], isLeft: true });
    expect((await started.exited).code).toBe(0);
    expect(receiver.metrics.map(({ name }) => name)).toContain('nestlens.spans');
    expect(started.warnings()).toEqual([]);
  });

  describe('another copy of NestLens than the one that started the SDK, given a run id in code,', () => {
    const ran = once(runAnotherCopy);

    it('H10: has its spans kept once', async () =>
      expect((await ran()).seen).toEqual({ others: ['by hand'], count: 1, isOn: true }));

    it('H7: says once that the run id comes too late', async () =>
      expect((await ran()).warnings).toEqual([expect.stringContaining('nest-lens/register')]));
  });

  it('H6: --require starts one SDK, which has its port to itself', async () => {
    const port = await freePort();
    const script = folderWith({
      'main.cjs': `
        const { metrics } = require('@opentelemetry/api');
        metrics.getMeter('shop').createCounter('orders').add(3);
        fetch('http://127.0.0.1:${port}/metrics').then((answer) => answer.text()).then((text) => {
          console.log('SCRAPED', /^orders_total\\S* \\d+/m.exec(text)?.[0].replace(/\\{.*\\}/, ''));
          process.exit();
        });`,
    });
    const started = startShop({
      nodeArguments: ['--require', 'nest-lens/register'],
      script: `${script}/main.cjs`,
      env: {
        NEST_LENS_METRICS_ENABLED: 'yes',
        OTEL_TRACES_EXPORTER: 'none',
        OTEL_METRICS_EXPORTER: 'prometheus',
        OTEL_EXPORTER_PROMETHEUS_PORT: String(port),
      },
    });
    await started.exited;
    expect(started.output).toBe('SCRAPED orders_total 3\n');
  });

  it('H6, H12: finds the packages of an application that is started by its directory, and uses the one with all instrumentations, no broken one', async () => {
    const folder = folderWith({ ...FINDER, ...BROKEN, 'package.json': '{ "main": "main.cjs" }' });
    const started = startShop({
      nodeArguments: REGISTER,
      script: folder,
      env: { NEST_LENS_EXPORTER: 'none', OTEL_NODE_ENABLED_INSTRUMENTATIONS: undefined },
    });
    await started.exited;
    expect(started.output).toBe('FOUND all true\n');
  });

  it('H6: finds the packages of an application that is started by a link to its main file', async () => {
    const folder = join(fixtures, folderWith(FINDER));
    const link = join(folderOutside(), 'shop');
    symlinkSync(join(folder, 'main.cjs'), link);
    const started = startShop({ nodeArguments: REGISTER, script: link, env: { NEST_LENS_EXPORTER: 'none' } });
    await started.exited;
    expect(started.output).toBe('FOUND all true\n');
  });

  it('H6: finds the packages of an application by the working directory, if its launcher is elsewhere', async () => {
    const folder = join(fixtures, folderWith(FINDER));
    const launcher = join(
      folderOutside({ 'launcher.cjs': 'require(process.cwd() + "/main.cjs");' }),
      'launcher.cjs',
    );
    const started = startShop({
      nodeArguments: REGISTER,
      script: launcher,
      cwd: folder,
      env: { NEST_LENS_EXPORTER: 'none' },
    });
    await started.exited;
    expect(started.output).toBe('FOUND all true\n');
  });

  it.each([
    ['--import', 'node'],
    ['--require', 'cjs'],
  ])('H6: with %s finds the SDK at least where NestLens is (%s)', async (flag, build) => {
    const outside = folderOutside({
      'main.cjs': `console.log('SDK', globalThis[Symbol.for('opentelemetry.js.api.1')]?.trace !== undefined);`,
    });
    const started = startShop({
      nodeArguments: [flag, `${root}dist/${build}/register.js`],
      script: join(outside, 'main.cjs'),
      cwd: outside,
      env: { NEST_LENS_EXPORTER: 'none' },
    });
    await started.exited;
    expect(started.output).toBe('SDK true\n');
  });

  it('H7: says once that options in code come too late', async () => {
    const shop = startShop({
      nodeArguments: REGISTER,
      shop: { spansFile: '/dev/null' },
      env: { NEST_LENS_EXPORTER: 'none' },
    });
    const { warnings } = await telemetryOf(shop);
    expect(warnings.map(({ code }: any) => code)).toEqual(['OPTIONS_IGNORED']);
    await shop.kill('SIGTERM');
    expect(shop.warnings()).toEqual([expect.stringContaining('nest-lens/register')]);
  });
});

describe('own mode without nest-lens/register', () => {
  it('H6: warns of nothing when the given instrumentations were made before what they patch was loaded', async () => {
    const receiver = await startReceiver();
    const script = folderWith({
      'main.cjs': `
        const { HttpInstrumentation } = require('@opentelemetry/instrumentation-http');
        const instrumentations = [new HttpInstrumentation()];
        require('reflect-metadata');
        const { Module } = require('@nestjs/common');
        const { NestFactory } = require('@nestjs/core');
        const { NestLensModule } = require('nest-lens');
        class AppModule {}
        Module({ imports: [NestLensModule.forRoot({ telemetry: { instrumentations } })] })(AppModule);
        async function main() {
          const app = await NestFactory.create(AppModule, { logger: ['warn', 'error'] });
          await app.listen(0, '127.0.0.1');
          await (await fetch((await app.getUrl()) + '/lens/groups')).text();
          await app.close();
        }
        void main();`,
    });
    const started = startShop({
      script: `${script}/main.cjs`,
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, NEST_LENS_SPAN_GROUPS: '-none' },
    });
    expect((await started.exited).code).toBe(0);
    expect(receiver.spans.map(({ scope }) => scope.name)).toContain('@opentelemetry/instrumentation-http');
    expect(started.warnings().filter((line) => !line.includes("spec '-none'"))).toEqual([]);
  });

  it('H6: an instrumentation is judged by whether it has seen the module, or a file of it', async () => {
    const packages = ['module-seen', 'module-missed', 'file-seen', 'file-missed'];
    const script = folderWith({
      'main.cjs': `
        const { createRequire } = require('node:module');
        const { InstrumentationBase, InstrumentationNodeModuleDefinition, InstrumentationNodeModuleFile } =
          createRequire(require.resolve('@opentelemetry/instrumentation-http'))('@opentelemetry/instrumentation');
        const { nestLensConfigFromEnv, setLensLogger, setupTelemetry } = require('nest-lens/core');
        const patch = (exports) => exports;
        const patchOf = (name) => name.startsWith('module')
          ? new InstrumentationNodeModuleDefinition(name, ['*'], patch)
          : new InstrumentationNodeModuleDefinition(name, ['*'], undefined, undefined, [
              new InstrumentationNodeModuleFile(name + '/lib.js', ['*'], patch, () => undefined),
            ]);
        const instrumentations = ${JSON.stringify(packages)}.map((name) => {
          // Another one for a version that isn't there.
          const patches = () => [patchOf(name), new InstrumentationNodeModuleDefinition(name, ['^7.0.0'], patch)];
          class Patching extends InstrumentationBase {
            init() { return patches(); }
          }
          if (name.endsWith('missed')) require(name);
          const made = new Patching('patching ' + name, '1.0.0', {});
          require(name);
          return made;
        });
        const late = [];
        setLensLogger({ warn: (_, { code, details }) => code === 'INSTRUMENTATION_LATE' && late.push(...details.modules) });
        setupTelemetry(nestLensConfigFromEnv(), { instrumentations }).then(() => console.log('LATE ' + JSON.stringify(late)));`,
      ...Object.fromEntries(
        packages.flatMap((name) => [
          [`node_modules/${name}/index.js`, `require('./lib.js');`],
          [`node_modules/${name}/lib.js`, ''],
          [`node_modules/${name}/package.json`, '{ "version": "1.0.0" }'],
        ]),
      ),
    });
    const started = startShop({ script: `${script}/main.cjs`, env: { NEST_LENS_EXPORTER: 'none' } });
    expect(JSON.parse((await started.says(/LATE (.*)/))[1]!)).toEqual(['file-missed', 'module-missed']);
  });
});
