import 'reflect-metadata';
import { fileURLToPath } from 'node:url';
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { Injectable, Module, type OnApplicationBootstrap } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { metrics, propagation, type ProxyTracerProvider, trace } from '@opentelemetry/api';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { managedSpan, NestLensModule } from 'nest-lens';
import {
  ConfigError,
  isSpanGroupEnabled,
  type SetupOptions,
  type SpanProcessorLike,
  SpanRegistry,
  TelemetryAlreadySetUpError,
} from 'nest-lens/core';
import { captureWarnings } from '../support/capture-warnings.js';
import { KeepingExporter } from '../support/keeping-exporter.js';
import { setUpForTest } from '../support/live-telemetry.js';
import { takeCensus } from './fixtures/census.mjs';
import { folderWith } from '../support/folder-with.js';
import { startReceiver } from '../support/otlp-receiver.js';
import { startShop } from '../support/shop-process.js';

vi.setConfig({ testTimeout: 60_000 });

const fixtures = fileURLToPath(new URL('fixtures', import.meta.url));

type Census = Awaited<ReturnType<typeof takeCensus>>;

interface Result {
  before: Census;
  after: Census;
  spans: number;
  started: number;
  /** How often an exporter was shut down -> how many exporters. */
  shutdowns: Record<string, number>;
  failures: number;
  processWarnings: string[];
  lensWarnings: string[];
  namespaces: number;
  inFlight: number;
}

/** How many applications, how many of them at once, and how they go. */
type Boots = [total: number, atOnce: number, how: string];

/** One after another in one process: what each has left. */
async function bootMany(
  boots: Boots[],
  env: Record<string, string>,
): Promise<{ results: Result[]; output: string }> {
  const receiver = await startReceiver();
  const apps = startShop({
    script: 'many-apps.mjs',
    scriptArguments: [JSON.stringify(boots)],
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, NEST_LENS_METRICS_ENABLED: 'yes', ...env },
  });
  expect(await apps.exited).toEqual({ code: 0, signal: null });
  const { output } = apps;
  const results = [...output.matchAll(/RESULT (.*)\n/g)].map(([, result]) => JSON.parse(result!) as Result);
  return { results, output };
}

function expectNothingLeft(result: Result): void {
  expect(result.after).toEqual(result.before);
  expectNothingRegisteredIn(result.after);
  expect([result.processWarnings, result.namespaces, result.inFlight]).toEqual([[], 0, 0]);
}

function expectNothingRegisteredIn({ registered, timers }: Census): void {
  // The API leaves its version behind.
  expect([registered.filter((api) => api !== 'version'), timers]).toEqual([[], 0]);
}

const WELL = 'well';
const CLOSED = 'closed while starting';
const FAILING = 'failing bootstrap';

describe('applications in one process', () => {
  let results: Map<string, Result>;
  let output: string;
  beforeAll(async () => {
    const boots: Boots[] = [
      [30, 1, WELL],
      [30, 3, WELL],
      [12, 1, CLOSED],
      [12, 3, CLOSED],
      [12, 1, FAILING],
      [12, 3, FAILING],
    ];
    const booted = await bootMany(boots, { OTEL_LOG_LEVEL: 'warn' });
    results = new Map(boots.map(([, atOnce, how], at) => [`${atOnce} ${how}`, booted.results[at]!]));
    ({ output } = booted);
  });
  const resultOf = (atOnce: number, how: string): Result => results.get(`${atOnce} ${how}`)!;

  it('N2, H1: thirty, one after another, each closed twice at once: each shuts its exporter down once, and nothing is left', () => {
    const result = resultOf(1, WELL);
    expectNothingLeft(result);
    expect(result).toMatchObject({ spans: 30, started: 30, shutdowns: { 1: 30 } });
    expect(result.lensWarnings).toEqual([]);
  });

  it('N2: three at once share one set-up, which the last close ends', () => {
    const result = resultOf(3, WELL);
    expectNothingLeft(result);
    expect(result).toMatchObject({ spans: 30, started: 10, shutdowns: { 0: 20, 1: 10 } });
    expect([...new Set(result.lensWarnings)]).toEqual(['OPTIONS_IGNORED']);
  });

  it.each([1, 3])(
    'N2, H9: %d at once that are closed while they start, at one stage after another, leave nothing',
    (atOnce) => {
      const result = resultOf(atOnce, CLOSED);
      expectNothingLeft(result);
      expect(result.started).toBeGreaterThan(0);
      expect(result.shutdowns[1]).toBe(result.started);
      expect(result.shutdowns[2]).toBeUndefined();
    },
  );

  it.each([1, 3])('N2, H4: %d at once whose start fails half-way leave nothing', (atOnce) => {
    const result = resultOf(atOnce, FAILING);
    expectNothingLeft(result);
    expect(result.failures).toBe(12);
    expect([result.started, result.shutdowns[1]]).toEqual([12 / atOnce, 12 / atOnce]);
  });

  it('H2: that are told by OTEL_LOG_LEVEL to say much leave no logger, and none complains of another', () => {
    for (const { after } of results.values()) expect(after.registered).not.toContain('diag');
    expect(output).not.toContain('Current logger');
  });
});

@Injectable()
class FailingBootstrap implements OnApplicationBootstrap {
  onApplicationBootstrap(): void {
    throw new Error('the database is away');
  }
}

function moduleWith(
  exporter: KeepingExporter,
  providers: (typeof FailingBootstrap)[] = [],
): new () => object {
  @Module({
    imports: [
      NestLensModule.forRoot({
        registrations: [{ namespace: 'shop', groups: ['orders'] }],
        config: { enabled: true, spanGroups: 'all', exporter: 'none', metricsEnabled: false },
        telemetry: { spanExporter: exporter },
      }),
    ],
    providers,
  })
  class AppModule {}
  return AppModule;
}

function expectNothingRegistered(): void {
  const { constructor } = (trace.getTracerProvider() as ProxyTracerProvider).getDelegate();
  expect([constructor.name, metrics.getMeterProvider().constructor.name]).toEqual([
    'NoopTracerProvider',
    'NoopMeterProvider',
  ]);
}

describe('a start', () => {
  it('H4: that fails half-way is ended by close, which shuts the exporter down once; the next start works', async () => {
    const drained = process.listenerCount('beforeExit');
    const failed = new KeepingExporter();
    const app = await NestFactory.create(moduleWith(failed, [FailingBootstrap]), { logger: false });
    await expect(app.init()).rejects.toThrow('the database is away');
    await app.close();
    expect(failed.calls.filter((call) => call === 'shutdown')).toHaveLength(1);
    expectNothingRegistered();

    const exporter = new KeepingExporter();
    const next = await NestFactory.create(moduleWith(exporter), { logger: false });
    await next.init();
    managedSpan('orders', 'work', () => undefined);
    await next.close();
    expect([exporter.names, failed.names]).toEqual([['work'], []]);
    expectNothingRegistered();
    expect(process.listenerCount('beforeExit')).toBe(drained);
  });

  it('H9: that is closed while it goes on is ended too, once', async () => {
    const exporter = new KeepingExporter();
    const app = await NestFactory.create(moduleWith(exporter), { logger: false });
    const starting = app.init().catch(() => undefined);
    await app.close();
    await starting;
    await app.close();
    expect(exporter.calls.filter((call) => call === 'shutdown')).toHaveLength(1);
    expectNothingRegistered();
  });
});

/** Lets the next start of the SDK fail where it registers something. */
function failAt(api: object, register: string): void {
  vi.spyOn(api as Record<string, () => never>, register).mockImplementationOnce(() => {
    throw new Error('out of order');
  });
}

class KeepingProcessor implements SpanProcessorLike {
  shutdowns = 0;
  onStart(): void {}
  onEnd(): void {}
  forceFlush(): Promise<void> {
    return Promise.resolve();
  }
  shutdown(): Promise<void> {
    this.shutdowns++;
    return Promise.resolve();
  }
}

class CountingReader extends PeriodicExportingMetricReader {
  shutdowns = 0;
  override onShutdown(): Promise<void> {
    this.shutdowns++;
    return super.onShutdown();
  }
}

/** All that an application can give, each new. */
function givenParts(): {
  options: Required<Pick<SetupOptions, 'spanExporter' | 'spanProcessors' | 'metricReader'>>;
  shutdowns(): { exporter: number; processors: number[]; reader: number };
} {
  const spanExporter = new KeepingExporter();
  const spanProcessors = [new KeepingProcessor(), new KeepingProcessor()];
  const metricReader = new CountingReader({
    exporter: new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE),
    exportIntervalMillis: 60_000,
  });
  return {
    options: { spanExporter, spanProcessors, metricReader },
    shutdowns: () => ({
      exporter: spanExporter.calls.filter((call) => call === 'shutdown').length,
      processors: spanProcessors.map(({ shutdowns }) => shutdowns),
      reader: metricReader.shutdowns,
    }),
  };
}

const ONCE = { exporter: 1, processors: [1, 1], reader: 1 };
const NEVER = { exporter: 0, processors: [0, 0], reader: 0 };

describe('a set-up that fails half-way', () => {
  const withMetrics = { metricsEnabled: true };
  // That nothing is registered is beside the point.
  beforeEach(() => void captureWarnings());

  it.each([
    ['before the SDK has made a provider', propagation, 'setGlobalPropagator'],
    ['when the SDK has made both providers', trace, 'setGlobalTracerProvider'],
  ])('H4: %s, shuts down once each part it was given, and leaves nothing', async (_, api, register) => {
    await (await setUpForTest(withMetrics, givenParts().options)).shutdown(); // Loads the SDK, which stays.
    const before = await takeCensus();
    const given = givenParts();
    failAt(api, register);
    await expect(setUpForTest(withMetrics, given.options)).rejects.toThrow('out of order');
    expect(given.shutdowns()).toEqual(ONCE);
    expect(await takeCensus()).toEqual(before);
    expectNothingRegistered();

    const next = givenParts();
    const handle = await setUpForTest(withMetrics, next.options);
    expect(next.shutdowns()).toEqual(NEVER);
    await handle.shutdown();
    expect(next.shutdowns()).toEqual(ONCE);
    expect(given.shutdowns()).toEqual(ONCE);
    expect(await takeCensus()).toEqual(before);
  });

  it('H4: with parts that fail to shut down too, rejects with what went wrong first, within a second or so', async () => {
    const given = givenParts();
    const [stuck, failing] = given.options.spanProcessors;
    stuck!.shutdown = () => new Promise(() => undefined);
    failing!.shutdown = () => {
      throw new Error('shut down in vain');
    };
    const began = performance.now();
    failAt(propagation, 'setGlobalPropagator');
    await expect(setUpForTest(withMetrics, given.options)).rejects.toThrow('out of order');
    expect(performance.now() - began).toBeLessThan(4_000);
    expect(given.shutdowns()).toMatchObject({ exporter: 1, reader: 1 });
    expectNothingRegistered();
  });

  it('H4: when everything was built, ends that again, and forgets the spec', async () => {
    const warnings = captureWarnings();
    class BrokenMeterProvider extends MeterProvider {
      override getMeter(): never {
        throw new Error('no meters here');
      }
    }
    const foreign = new BrokenMeterProvider();
    metrics.setGlobalMeterProvider(foreign);
    SpanRegistry.register('shop', ['orders']);
    const given = givenParts();
    await expect(setUpForTest(withMetrics, given.options)).rejects.toThrow('no meters here');
    // The reader wasn't used: the application has a meter provider of its own.
    expect(given.shutdowns()).toEqual({ ...ONCE, reader: 0 });
    expect(isSpanGroupEnabled('orders')).toBe(false);
    expect(metrics.getMeterProvider()).toBe(foreign);
    metrics.disable();
    expectNothingRegistered();

    const exporter = new KeepingExporter();
    const handle = await setUpForTest({}, { spanExporter: exporter });
    managedSpan('orders', 'work', () => undefined);
    await handle.shutdown();
    expect(exporter.names).toEqual(['work']);
    expect(warnings.codes()).toEqual([]);
  });

  it.each([
    ['while another one is live', TelemetryAlreadySetUpError, {}],
    ['for its configuration', ConfigError, { exporter: 'carrier-pigeon' as never }],
  ])('H1: %s leaves what it was given alone: it may be given again', async (when, error, config) => {
    const live = when.includes('live') ? await setUpForTest() : undefined;
    const given = givenParts();
    await expect(setUpForTest({ ...withMetrics, ...config }, given.options)).rejects.toThrow(error);
    expect(given.shutdowns()).toEqual(NEVER);
    await live?.shutdown();
    const handle = await setUpForTest(withMetrics, given.options);
    await handle.shutdown();
    expect(given.shutdowns()).toEqual(ONCE);
  });

  it('H4, H12: applications whose set-up fails, early or late, serve, leave no port of a reader open and no timer, and the process ends', async () => {
    const freePort = await startReceiver();
    await freePort.stop();
    const boots: Boots[] = [
      [10, 1, 'fails early'],
      [10, 1, 'fails late'],
    ];
    const { results } = await bootMany(boots, {
      OTEL_METRICS_EXPORTER: 'otlp,prometheus',
      OTEL_EXPORTER_PROMETHEUS_PORT: String(freePort.port),
    });
    expect(results).toHaveLength(2);
    for (const result of results) {
      expectNothingLeft(result);
      expect(result).toMatchObject({ failures: 0, spans: 0, shutdowns: { 1: 10 } });
      expect(result.lensWarnings).toEqual(Array(10).fill('SETUP_FAILED'));
    }
  });
});

describe('an early start that fails half-way', () => {
  it.each(['metrics.setGlobalMeterProvider', 'trace.setGlobalTracerProvider'])(
    'H4, H12: at %s, leaves nothing that keeps the process alive, no listener and nothing registered',
    async (register) => {
      const freePort = await startReceiver();
      await freePort.stop();
      const script = folderWith({
        'main.cjs': `
          console.log('LEFT ' + JSON.stringify([
            Object.keys(globalThis[Symbol.for('opentelemetry.js.api.1')] ?? {}).filter((name) => name !== 'version'),
            process.listenerCount('beforeExit'), process.listenerCount('SIGTERM'),
          ]));`,
        'break.cjs': `require('@opentelemetry/api').${register} = () => { throw new Error('out of order'); };`,
      });
      const started = startShop({
        nodeArguments: ['--require', `${fixtures}/${script}/break.cjs`, '--require', 'nest-lens/register'],
        script: `${script}/main.cjs`,
        env: {
          NEST_LENS_METRICS_ENABLED: 'yes',
          OTEL_METRICS_EXPORTER: 'prometheus',
          OTEL_EXPORTER_PROMETHEUS_PORT: String(freePort.port),
        },
      });
      // It would go on for ever: the port would be open.
      expect(await started.exited).toEqual({ code: 0, signal: null });
      expect(JSON.parse((await started.says(/LEFT (.*)\n/))[1]!)).toEqual([[], 0, 0]);
      expect(started.warnings()).toEqual([expect.stringContaining('out of order')]);
    },
  );
});

describe('copies of the package, as a test runner makes them', () => {
  it('H1, H10: follow one another without a trace, and one ends the open spans of another', async () => {
    const warnings = captureWarnings();
    let before: Census | undefined;
    for (let copy = 0; copy < 5; copy++) {
      vi.resetModules();
      const here = await import('nest-lens/core');
      vi.resetModules();
      const there = await import('nest-lens/core');
      expect(here.managedSpan).not.toBe(there.managedSpan);
      here.SpanRegistry.register('shop', ['orders']);
      const exporter = new KeepingExporter();
      const config = { ...here.nestLensConfigFromEnv({ env: {} }), enabled: true, spanGroups: 'all' };
      const handle = await here.setupTelemetry(
        { ...config, exporter: 'none', metricsEnabled: false },
        { spanExporter: exporter },
      );
      void there.managedSpan('orders', 'open there', () => new Promise(() => undefined));
      void here.managedSpan('orders', 'open here', () => new Promise(() => undefined));
      await handle.shutdown();
      there.SpanRegistry.unregister('shop');
      expect(exporter.names).toEqual(['open here', 'open there']);
      expect(exporter.spans.every((span) => span.attributes['nestlens.truncated'] === true)).toBe(true);
      // The first one loads the SDK.
      const after = await takeCensus();
      before ??= after;
      expect(after).toEqual(before);
    }
    expect(warnings.codes()).toEqual([]);
  });
});
