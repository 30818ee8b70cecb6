import { describe, expect, it, jest } from '@jest/globals';
import { folderWith } from './folder-with.js';
import { startReceiver } from './otlp-receiver.js';
import { type ShopProcess, startShop } from './shop-process.js';

jest.setTimeout(60_000);

async function telemetryOf(shop: ShopProcess): Promise<any> {
  return JSON.parse(await shop.get('/lens/groups'));
}

describe('nest-lens/register', () => {
  it.each([
    ['an ES module by --import', '--import', 'shop.mjs'],
    ['CommonJS by --require', '--require', 'shop.cjs'],
    ['CommonJS by --import', '--import', 'shop.cjs'],
  ])(
    'H3, H6: lets %s have its HTTP spans, and judges the spec only at bootstrap',
    async (_, flag, script) => {
      const receiver = await startReceiver();
      const shop = startShop({
        nodeArguments: [flag, 'nest-lens/register'],
        script,
        env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url },
      });
      expect(await shop.get('/orders')).toBe('["anvil"]');
      const { telemetry, enabled } = await telemetryOf(shop);
      expect([telemetry, enabled]).toEqual([{ enabled: true, exporting: true, mode: 'own' }, ['orders']]);

      const { signal, code } = await shop.kill('SIGTERM');

      expect(signal ?? code).toMatch(/SIGTERM|143|0/);
      const server = receiver.spans.find(({ name }) => name === 'GET /orders')!;
      const handler = receiver.spans.find(({ name }) => name === 'OrdersController.list')!;
      expect(server.scope.name).toBe('@opentelemetry/instrumentation-http');
      expect([handler.traceId, handler.parentSpanId]).toEqual([server.traceId, server.spanId]);
      expect(receiver.names().filter((name) => name === 'OrdersController.list')).toHaveLength(1);
      expect(shop.warnings()).toEqual([]);
    },
  );

  it('H2: does nothing while telemetry is disabled', async () => {
    const shop = startShop({
      nodeArguments: ['--import', 'nest-lens/register'],
      env: { NEST_LENS_ENABLED: 'false' },
    });
    expect(await shop.get('/orders')).toBe('["anvil"]');
    expect((await telemetryOf(shop)).telemetry).toEqual({ enabled: false, exporting: false, mode: null });
    await shop.kill('SIGTERM');
    expect(shop.warnings()).toEqual([]);
  });

  it.each([
    ['NEST_LENS_ENABLED', { NEST_LENS_ENABLED: 'perhaps' }],
    ['OTEL_SDK_DISABLED', { OTEL_SDK_DISABLED: 'true' }],
  ])('H2, H11: loads no SDK when %s keeps it off', async (_, env) => {
    const script = folderWith({
      'main.cjs': `console.log('LOADED', Object.keys(require.cache).some((file) => file.includes('sdk-node')));`,
    });
    const started = startShop({
      nodeArguments: ['--require', 'nest-lens/register'],
      script: `${script}/main.cjs`,
      env,
    });
    expect((await started.says(/LOADED (\w+)/))[1]).toBe('false');
    expect((await started.exited).code).toBe(0);
  });

  it('H12: a wrong variable stops nothing, and is said once', async () => {
    const shop = startShop({
      nodeArguments: ['--import', 'nest-lens/register'],
      env: { NEST_LENS_EXPORTER: 'carrier-pigeon' },
    });
    expect(await shop.get('/orders')).toBe('["anvil"]');
    const { warnings } = await telemetryOf(shop);
    expect(warnings.map(({ code }: any) => code)).toContain('CONFIG_INVALID');
    await shop.kill('SIGTERM');
    expect(shop.warnings()).toHaveLength(1);
    expect(shop.output).toContain('NEST_LENS_EXPORTER');
  });

  it('H12: an SDK that fails to start stops nothing, and is said once', async () => {
    const script = folderWith({
      'main.cjs': `
        const { NestLensModule } = require('nest-lens');
        const { Module } = require('@nestjs/common');
        const { NestFactory } = require('@nestjs/core');
        class AppModule {}
        Module({ imports: [NestLensModule.forRoot()] })(AppModule);
        NestFactory.createApplicationContext(AppModule, { logger: ['warn', 'error'] }).then((app) => app.init()).then(() => console.log('UP'));`,
      'node_modules/@opentelemetry/sdk-node/index.js': 'throw new Error("broken sdk");',
      'node_modules/@opentelemetry/sdk-node/package.json': '{ "name": "@opentelemetry/sdk-node" }',
    });
    const started = startShop({
      nodeArguments: ['--require', 'nest-lens/register'],
      script: `${script}/main.cjs`,
      env: { NEST_LENS_EXPORTER: 'none' },
    });
    await started.says(/UP/);
    expect((await started.exited).code).toBe(0);
    expect(started.warnings().filter((line) => line.includes('broken sdk'))).toHaveLength(1);
  });

  it('H12: uses the package with all instrumentations if it is installed, else what there is; a broken one is left out', async () => {
    const main = `
      const { trace } = require('@opentelemetry/api');
      console.log('INSTRUMENTED', globalThis.instrumented, trace.getTracer('x').startSpan('x').isRecording());`;
    const all = {
      'node_modules/@opentelemetry/auto-instrumentations-node/index.js': `
        exports.getNodeAutoInstrumentations = () => [{
          instrumentationName: 'all', enable() {}, disable() {}, setTracerProvider() { globalThis.instrumented = 'all'; },
          setMeterProvider() {}, getConfig: () => ({ enabled: true }),
        }];`,
      'node_modules/@opentelemetry/auto-instrumentations-node/package.json': '{}',
    };
    const broken = {
      'node_modules/@opentelemetry/instrumentation-express/index.js':
        'throw new Error("broken instrumentation");',
      'node_modules/@opentelemetry/instrumentation-express/package.json': '{}',
    };
    const run = async (files: Record<string, string>): Promise<ShopProcess> => {
      const started = startShop({
        nodeArguments: ['--require', 'nest-lens/register'],
        script: `${folderWith({ 'main.cjs': main, ...files })}/main.cjs`,
        env: { NEST_LENS_EXPORTER: 'none' },
      });
      await started.exited;
      return started;
    };
    const [withAll, withBroken] = await Promise.all([run({ ...all, ...broken }), run(broken)]);
    expect(withAll.output).toBe('INSTRUMENTED all true\n');
    expect(withBroken.output).toContain('INSTRUMENTED undefined true');
    expect(withBroken.warnings()).toEqual([expect.stringContaining('instrumentation-express')]);
  });

  it('H9: exports what an application without NestLens has made when its loop drains', async () => {
    const receiver = await startReceiver();
    const script = folderWith({
      'main.mjs': `
        import { trace } from '@opentelemetry/api';
        trace.getTracer('by hand').startSpan('by hand').end();`,
    });
    const started = startShop({
      nodeArguments: ['--import', 'nest-lens/register'],
      script: `${script}/main.mjs`,
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url },
    });
    expect(await started.exited).toEqual({ code: 0, signal: null });
    expect(receiver.names()).toEqual(['by hand']);
  });

  it('H2: an application that says no ends what the environment began', async () => {
    const shop = startShop({
      nodeArguments: ['--import', 'nest-lens/register'],
      shop: { options: { config: { enabled: false } } },
    });
    expect(await shop.get('/orders')).toBe('["anvil"]');
    expect((await telemetryOf(shop)).telemetry).toEqual({ enabled: false, exporting: false, mode: null });
    await shop.kill('SIGTERM');
    expect(shop.warnings()).toEqual([]);
  });

  it('H7: says once that options in code come too late', async () => {
    const shop = startShop({
      nodeArguments: ['--import', 'nest-lens/register'],
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
  it('H6: warns once that given instrumentations come too late, names the cure, and makes its own spans', async () => {
    const receiver = await startReceiver();
    const shop = startShop({
      shop: { instrument: true },
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url },
    });
    await shop.get('/orders');
    await shop.kill('SIGTERM');
    expect(shop.warnings()).toEqual([expect.stringMatching(/\[http.*\].*--import nest-lens\/register/)]);
    expect(receiver.names()).toContain('OrdersController.list');
  });

  it('H6: warns of nothing when no instrumentation is given', async () => {
    const receiver = await startReceiver();
    const shop = startShop({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url } });
    await shop.get('/orders');
    await shop.kill('SIGTERM');
    expect(shop.warnings()).toEqual([]);
    expect(receiver.names()).toEqual(
      expect.arrayContaining(['OrdersController.list', 'onModuleDestroy', 'onApplicationShutdown']),
    );
  });
});
