import { cpSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { type ProxyTracerProvider, trace } from '@opentelemetry/api';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { managedSpan, SpanRegistry } from 'nest-lens';
import { captureWarnings } from '../support/capture-warnings.js';
import { KeepingExporter } from '../support/keeping-exporter.js';
import { setUpForTest } from '../support/live-telemetry.js';
import { folderWith } from '../support/folder-with.js';
import { startGrpcReceiver, startReceiver } from '../support/otlp-receiver.js';
import { type ShopProcess, type ShopProcessOptions, startShop } from '../support/shop-process.js';
import { type Scenario, scenario } from './scenario.js';
import { ask, createApp, lensGroupsOf, startApp } from './scenario-app.js';
import { setEnvironment } from './scenario-environment.js';
import { look, type Looked, onceTwoSecondsOld } from './scenario-processes.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const REGISTER = ['--import', 'nest-lens/register'];
const NO_PROVIDER = { tracerProvider: 'NoopTracerProvider', meterProvider: 'NoopMeterProvider' };
const OFF = { enabled: false, exporting: false, mode: null };

function isOff({ answer, telemetry, groupsOn }: Pick<Looked, 'answer' | 'telemetry' | 'groupsOn'>): void {
  expect([answer, telemetry, groupsOn]).toEqual(['["anvil"]', OFF, []]);
}

/** The shop, which finds this instead of the SDK, as NestLens does. */
function startShopWithSdk(files: Record<string, string>, options: ShopProcessOptions = {}): ShopProcess {
  const fixture = readFileSync(`${root}test/lifecycle/fixtures/shop.mjs`, 'utf8');
  const packages = Object.entries(files).map(([name, content]) => [
    `node_modules/@opentelemetry/sdk-node/${name}`,
    content,
  ]);
  const folder = folderWith({
    'shop.mjs': fixture,
    // Without it the folder would be part of this package, and `nest-lens` the one at its root.
    'package.json': '{}',
    ...(Object.fromEntries(packages) as Record<string, string>),
  });
  const copy = `${root}temp/${folder.split('/').at(-1)!}/node_modules/nest-lens`;
  const filter = (path: string): boolean => !/\.(d\.ts|map)$/.test(path);
  for (const part of ['dist', 'package.json'])
    cpSync(`${root}${part}`, `${copy}/${part}`, { recursive: true, filter });
  return startShop({ ...options, script: `${folder}/shop.mjs` });
}

const delegate = (): unknown => (trace.getTracerProvider() as ProxyTracerProvider).getDelegate();

const isSilent = ({ shop }: { shop: ShopProcess }): void => expect(shop.warnings()).toEqual([]);

/** When -> what happens, for an application that starts. */
export const startScenarios: Readonly<Record<string, Scenario>> = {
  'nothing is set': scenario(
    'H2',
    () =>
      look(
        startShop({
          env: {
            NEST_LENS_ENABLED: undefined,
            NEST_LENS_METRICS_ENABLED: undefined,
            OTEL_LOGS_EXPORTER: undefined,
          },
        }),
      ),
    {
      'Telemetry is off:': ({ telemetry, shop }) => {
        expect(telemetry).toEqual(OFF);
        isSilent({ shop });
      },
      'no provider,': ({ seen }) => expect(seen.now).toMatchObject(NO_PROVIDER),
      'no SDK package loaded,': ({ seen }) => expect(seen.now.sdkPackages).toEqual([]),
      'every group off.': isOff,
    },
  ),

  '`OTEL_SDK_DISABLED` is `true`': scenario(
    'H11',
    async () => {
      const receiver = await startReceiver();
      const shop = startShop({
        nodeArguments: REGISTER,
        shop: { options: { config: { enabled: true, spanGroups: 'all', exporter: 'console' } } },
        env: {
          OTEL_SDK_DISABLED: 'true',
          OTEL_TRACES_EXPORTER: 'otlp',
          OTEL_METRICS_EXPORTER: 'otlp',
          OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
          NEST_LENS_METRICS_ENABLED: 'yes',
        },
      });
      const looked = await look(shop);
      await shop.kill('SIGTERM');
      return { ...looked, receiver };
    },
    {
      'The same,': (looked) => {
        isOff(looked);
        expect(looked.seen.now).toEqual({ ...NO_PROVIDER, sdkPackages: [] });
      },
      'whatever else is set.': ({ receiver, shop }) => {
        expect(receiver.requests).toEqual([]);
        expect(shop.output).not.toContain('OrdersController.list');
      },
    },
  ),

  '`NEST_LENS_ENABLED=true`': scenario('H3', async () => (await onceTwoSecondsOld()).withHooks, {
    'NestLens starts the OpenTelemetry Node SDK at bootstrap;': ({ seen }) => {
      expect([seen.atLoad, seen.atInit].map(({ sdkPackages }) => sdkPackages)).toEqual([[], []]);
      expect(seen.now.sdkPackages).toContain('@opentelemetry/sdk-node');
      expect(seen.now.tracerProvider).not.toBe(NO_PROVIDER.tracerProvider);
    },
    'the SDK reads its own variables': ({ receiver }) => {
      const span = receiver.spans.find(({ name }) => name === 'OrdersController.list');
      expect(span?.resource['service.name']).toBe('anvils');
      expect(receiver.names()).toEqual(expect.arrayContaining(['onModuleDestroy', 'onApplicationShutdown']));
    },
    '(`own`).': ({ telemetry, shop }) => {
      expect(telemetry).toMatchObject({ enabled: true, exporting: true, mode: 'own' });
      isSilent({ shop });
    },
  }),

  '`node --import nest-lens/register` comes first': scenario(
    'H3, H6',
    async () => {
      const receiver = await startReceiver();
      const shop = startShop({
        nodeArguments: REGISTER,
        env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url },
      });
      const looked = await look(shop);
      await shop.kill('SIGTERM');
      const spanNamed = (wanted: string) => receiver.spans.filter(({ name }) => name === wanted);
      return { ...looked, servers: spanNamed('GET /orders'), handlers: spanNamed('OrdersController.list') };
    },
    {
      'The SDK': ({ seen }) => expect(seen.atLoad.tracerProvider).not.toBe(NO_PROVIDER.tracerProvider),
      'and the installed instrumentations start before the application loads;': ({ servers }) =>
        expect(servers.map(({ scope }) => scope.name)).toEqual(['@opentelemetry/instrumentation-http']),
      'the module takes them over.': ({ telemetry, groupsOn, handlers, servers, shop }) => {
        expect(telemetry).toMatchObject({ enabled: true, exporting: true, mode: 'own' });
        expect(groupsOn).toEqual(['orders']);
        expect(handlers.map(({ parentSpanId }) => parentSpanId)).toEqual([servers[0]!.spanId]);
        isSilent({ shop });
      },
    },
  ),

  '`nest-lens/register` fails': scenario(
    'H12',
    () =>
      look(
        startShopWithSdk(
          { 'index.js': 'throw new Error("broken sdk");', 'package.json': '{ "main": "index.js" }' },
          { nodeArguments: REGISTER },
        ),
      ),
    {
      'One warning;': ({ shop }) => {
        expect(shop.warnings()).toEqual([expect.stringContaining('broken sdk')]);
      },
      'the application starts, with every group off.': isOff,
    },
  ),

  "`@opentelemetry/sdk-node` isn't installed": scenario(
    'H12',
    () => look(startShopWithSdk({ 'package.json': '{ "main": "missing.js" }' })),
    {
      '`SETUP_FAILED`, once: install it.': ({ codes, shop }) => {
        expect(codes).toEqual(['SETUP_FAILED']);
        expect(shop.warnings()).toEqual([expect.stringMatching(/npm i\w* @opentelemetry\/sdk-node/)]);
      },
      'The application starts, with every group off.': isOff,
    },
  ),

  '`telemetry.instrumentations` patch modules that are already loaded': scenario(
    'H6',
    async () => {
      const receiver = await startReceiver();
      const shop = startShop({
        shop: { instrument: true },
        env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url },
      });
      const looked = await look(shop);
      await shop.kill('SIGTERM');
      return { ...looked, names: receiver.names() };
    },
    {
      '`INSTRUMENTATION_LATE`, once.': ({ codes, shop }) => {
        expect(codes).toEqual(['INSTRUMENTATION_LATE']);
        expect(shop.warnings()).toEqual([expect.stringMatching(/\[http.*\].*--import nest-lens\/register/)]);
      },
      "NestLens's own spans are made as usual.": ({ names }) => {
        expect(names).toContain('OrdersController.list');
      },
    },
  ),

  'a tracer provider is already registered': scenario(
    'H6',
    async () => {
      setEnvironment();
      const warnings = captureWarnings();
      const exporter = new KeepingExporter();
      const provider = new BasicTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] });
      trace.setGlobalTracerProvider(provider);
      const app = await startApp();
      await ask(app);
      const { telemetry } = await lensGroupsOf(app);
      const live = delegate();
      await app.close();
      expect(warnings.codes()).toEqual([]);
      return { exporter, provider, telemetry, live, afterwards: delegate() };
    },
    {
      'It is used,': ({ exporter }) => expect(exporter.names).toEqual(['OrdersController.list']),
      'never replaced,': ({ provider, live, afterwards }) => {
        expect(live).toBe(provider);
        expect(afterwards).toBe(provider);
      },
      'never shut down (`attach`).': async ({ exporter, provider, telemetry }) => {
        expect(telemetry.mode).toBe('attach');
        expect(exporter.calls).not.toContain('shutdown');
        provider.getTracer('x').startSpan('afterwards').end();
        await provider.forceFlush();
        expect(exporter.names).toContain('afterwards');
        await provider.shutdown();
      },
    },
  ),

  'mode is `attach` and there is no provider': scenario(
    'H6',
    async () => {
      setEnvironment();
      const warnings = captureWarnings();
      const app = await startApp({ lens: { telemetry: { mode: 'attach' } } });
      const answer = await ask(app);
      const { telemetry } = await lensGroupsOf(app);
      const live = delegate();
      await app.close();
      const codes = warnings.codes();
      const { isExporting } = await setUpForTest({}, { mode: 'attach' });
      return { codes, telemetry, isExporting, answer, live };
    },
    {
      '`NO_TRACER_PROVIDER`, once;': ({ codes }) => expect(codes).toEqual(['NO_TRACER_PROVIDER']),
      '`isExporting` is false;': ({ telemetry, isExporting }) =>
        expect([telemetry.exporting, isExporting]).toEqual([false, false]),
      'nothing else happens.': ({ answer, live }) => {
        expect(answer).toBe('["anvil"]');
        expect((live as object).constructor.name).toBe(NO_PROVIDER.tracerProvider);
      },
    },
  ),

  'the application has called `setupTelemetry` itself': scenario(
    'H1, H12',
    async () => {
      setEnvironment();
      const warnings = captureWarnings();
      const exporter = new KeepingExporter();
      SpanRegistry.register('library', ['cache']);
      const handle = await setUpForTest({}, { spanExporter: exporter });
      const app = await startApp({ lens: { telemetry: { spanExporter: new KeepingExporter() } } });
      await ask(app);
      await app.close();
      await handle.forceFlush();
      return { exporter, handle, codes: warnings.codes() };
    },
    {
      'That set-up is used.': ({ exporter }) => expect(exporter.names).toEqual(['OrdersController.list']),
      "The module's groups are added (`LATE_REGISTRATION`);": ({ codes }) =>
        expect(codes).toContain('LATE_REGISTRATION'),
      'its options have no effect (`OPTIONS_IGNORED`).': ({ codes }) =>
        expect(codes).toEqual(['LATE_REGISTRATION', 'OPTIONS_IGNORED']),
      'The application shuts it down.': async ({ exporter, handle }) => {
        expect(exporter.calls).not.toContain('shutdown');
        await handle.shutdown();
        expect(exporter.calls.filter((call) => call === 'shutdown')).toHaveLength(1);
      },
    },
  ),

  "a variable has a value that isn't allowed": scenario(
    'H12, C3',
    async () => {
      const looked: (Pick<Looked, 'answer' | 'telemetry' | 'groupsOn'> & { logged: string[] })[] = [];
      for (const [name, value] of [
        ['NEST_LENS_ENABLED', 'perhaps'],
        ['NEST_LENS_EXPORTER', 'carrier-pigeon'],
        ['NEST_LENS_TRACES_ENABLED', '2'],
        ['NEST_LENS_METRICS_ENABLED', 'maybe'],
      ] as const) {
        setEnvironment({ NEST_LENS_ENABLED: 'true', [name]: value });
        const warnings = captureWarnings();
        const app = await startApp({ lens: { config: { enabled: undefined, metricsEnabled: undefined } } });
        const { telemetry, enabled } = await lensGroupsOf(app);
        const answer = await ask(app);
        expect(warnings.single('CONFIG_INVALID').message).toContain(name);
        looked.push({ answer, telemetry, groupsOn: enabled, logged: warnings.codes() });
        await app.close();
      }
      return looked;
    },
    {
      '`CONFIG_INVALID`;': (looked) =>
        expect(looked.map(({ logged }) => logged)).toEqual(Array(4).fill(['CONFIG_INVALID'])),
      'the application starts, with every group off.': (looked) => looked.forEach(isOff),
    },
  ),

  'the spec names something that nobody has registered': scenario(
    'S5, W3',
    async () => {
      setEnvironment();
      const warnings = captureWarnings();
      const app = await startApp({ lens: { config: { spanGroups: 'ordres,orders', exporter: 'none' } } });
      const { enabled } = await lensGroupsOf(app);
      return { warnings, enabled };
    },
    {
      '`SPEC_UNRESOLVED`, once, with the names that there are;': ({ warnings }) => {
        expect(warnings.codes()).toEqual(['SPEC_UNRESOLVED']);
        expect(warnings.all[0]!.message).toMatch(/\[ordres\].*'orders'.*Registered groups: \[orders\]/);
      },
      'the rest of the spec is in force.': ({ enabled }) => expect(enabled).toEqual(['orders']),
    },
  ),

  'the collector is away': scenario(
    'H12, H14',
    async () => {
      const rounds = [];
      for (const protocol of ['http/protobuf', 'grpc']) {
        const receiver = await startReceiver();
        await receiver.stop();
        setEnvironment({
          OTEL_LOGS_EXPORTER: 'none',
          OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
          OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
          OTEL_EXPORTER_OTLP_TIMEOUT: '1500',
          OTEL_BSP_MAX_QUEUE_SIZE: '10',
          OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '10',
          OTEL_BSP_SCHEDULE_DELAY: '1',
        });
        const warnings = captureWarnings();
        const app = await startApp();
        const answer = await ask(app);
        for (let i = 0; i < 100; i++) managedSpan('orders', String(i), () => undefined);
        const { exports } = (globalThis as Record<symbol, any>)[Symbol.for('nest-lens.state.1')].telemetry;
        const dropped = exports.spansLost;
        while (!warnings.codes().includes('EXPORT_FAILED')) await new Promise((done) => setTimeout(done, 10));
        const { spansLost } = exports;
        const back =
          protocol === 'grpc'
            ? await startGrpcReceiver({ port: receiver.port })
            : await startReceiver({ port: receiver.port });
        while (!warnings.codes().includes('EXPORT_RECOVERED')) {
          managedSpan('orders', 'back', () => undefined);
          await new Promise((done) => setTimeout(done, 50));
        }
        await app.close();
        rounds.push({ answer, dropped, spansLost, codes: warnings.codes(), names: back.names() });
      }
      return rounds;
    },
    {
      'The application starts and serves.': (rounds) =>
        expect(rounds.map(({ answer }) => answer)).toEqual(['["anvil"]', '["anvil"]']),
      'A batch is lost when its exporter gives up: within `OTEL_EXPORTER_OTLP_TIMEOUT` (10 s) over HTTP, at once over gRPC.':
        (rounds) => {
          for (const { names, spansLost, dropped } of rounds) {
            expect(spansLost).toBeGreaterThan(dropped);
            // The oldest span is in the first batch, which was given up before the receiver came back.
            expect(names).not.toContain('OrdersController.list');
          }
        },
      "Spans that don't fit into the queue meanwhile are dropped.": (rounds) => {
        for (const { dropped, names } of rounds) {
          expect(dropped).toBeGreaterThanOrEqual(80);
          expect(names).not.toContain('99');
        }
      },
      '`EXPORT_FAILED` says so; `EXPORT_RECOVERED` says that it works again.': (rounds) => {
        for (const { codes } of rounds) expect(codes).toEqual(['EXPORT_FAILED', 'EXPORT_RECOVERED']);
      },
    },
  ),

  'another application of the process already runs': scenario(
    'N2',
    async () => {
      setEnvironment();
      const warnings = captureWarnings();
      const exporters = [new KeepingExporter(), new KeepingExporter()];
      const [first, second] = [
        await startApp({ lens: { telemetry: { spanExporter: exporters[0] } } }),
        await startApp({ lens: { telemetry: { spanExporter: exporters[1] } } }),
      ];
      const provider = delegate();
      await ask(second);
      const { telemetry } = await lensGroupsOf(second);
      await second.close();
      await first.close();
      return { warnings, exporters, telemetry, provider };
    },
    {
      'It joins:': ({ telemetry }) =>
        expect(telemetry).toMatchObject({ enabled: true, exporting: true, mode: 'own' }),
      'one set-up for all,': ({ exporters }) =>
        expect(exporters.map(({ calls }) => calls.filter((call) => call === 'shutdown').length)).toEqual([
          1, 0,
        ]),
      "the first one's options count.": ({ exporters, warnings }) => {
        expect(exporters.map(({ names }) => names)).toEqual([['OrdersController.list'], []]);
        expect(warnings.codes()).toEqual(['OPTIONS_IGNORED']);
      },
    },
  ),

  "another module's start fails": scenario(
    'H4',
    async () => {
      setEnvironment();
      const warnings = captureWarnings();
      const failed = new KeepingExporter();
      const failing = {
        provide: 'failing',
        useValue: { onApplicationBootstrap: () => Promise.reject(new Error('the database is away')) },
      };
      const app = await createApp({
        lens: { telemetry: { spanExporter: failed } },
        providers: [failing],
      });
      await expect(app.init()).rejects.toThrow('the database is away');
      managedSpan('orders', 'before the close', () => undefined);
      await app.close();
      const exporter = new KeepingExporter();
      const next = await startApp({ lens: { telemetry: { spanExporter: exporter } } });
      await ask(next);
      await next.close();
      return { failed, exporter, warnings };
    },
    {
      '`app.close()` exports the spans that wait and shuts the SDK down, once;': ({ failed }) => {
        expect(failed.names).toEqual(['before the close']);
        expect(failed.calls.filter((call) => call === 'shutdown')).toHaveLength(1);
      },
      'the next start works.': ({ exporter, warnings }) => {
        expect(exporter.names).toEqual(['OrdersController.list']);
        expect(warnings.codes()).toEqual([]);
      },
    },
  ),

  'nothing listens to SIGTERM two seconds after the start': scenario('H9', onceTwoSecondsOld, {
    '`NO_SHUTDOWN_HOOKS`, once:': ({ withoutHooks: { codes, shop, warnedAfter } }) => {
      expect(codes).toEqual(['NO_SHUTDOWN_HOOKS']);
      expect(shop.warnings()).toHaveLength(1);
      expect(warnedAfter).toBeGreaterThan(2_000);
    },
    'call `app.enableShutdownHooks()`.': ({ withHooks }) => isSilent(withHooks),
    'Not in a worker thread, which gets no signals.': ({ inThread }) => {
      expect([inThread.telemetry.exporting, inThread.codes]).toEqual([true, []]);
      isSilent(inThread);
    },
  }),
};
