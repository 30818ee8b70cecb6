import { createServer } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type Context,
  context,
  createContextKey,
  metrics,
  propagation,
  type ProxyTracerProvider,
  ROOT_CONTEXT,
  trace,
  type Tracer,
  type TracerProvider,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  type ReadableSpan,
  SimpleSpanProcessor,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import {
  enabledSpanGroups,
  injectContext,
  isSpanGroupEnabled,
  managedSpan,
  overrideSpanGroups,
  pendingSpanGroups,
  setLensLogger,
  setSpanGroupSpec,
  setupTelemetry,
  type SetupOptions,
  SpanRegistry,
  type SpanGroupSpecSource,
  TelemetryAlreadySetUpError,
  traceFn,
  withSpan,
} from 'nest-lens/core';
import { captureWarnings, type CapturedWarnings } from '../../support/capture-warnings.js';
import { compileCore, type CompiledCore } from '../../support/compiled-core.js';
import { KeepingExporter } from '../../support/keeping-exporter.js';
import { quietConfig, setUpForTest } from '../../support/live-telemetry.js';
import { removeTelemetryVariables } from '../../support/telemetry-variables.js';

// The first set-up loads the SDK and everything it brings.
vi.setConfig({ testTimeout: 30_000 });

let warnings: CapturedWarnings;

beforeEach(() => {
  removeTelemetryVariables();
  warnings = captureWarnings();
  SpanRegistry.register('shop', ['orders', 'cache'], { default: ['orders'] });
});

const work = (name: string): void => managedSpan('orders', name, () => undefined);

/** What is registered with the OpenTelemetry API of this process. */
function registered(): {
  tracerProvider: boolean;
  contextManager: boolean;
  propagator: boolean;
  meterProvider: boolean;
} {
  const probe = createContextKey('probe');
  return {
    tracerProvider: tracerDelegate().constructor.name !== 'NoopTracerProvider',
    contextManager: context.with(
      ROOT_CONTEXT.setValue(probe, 1),
      () => context.active().getValue(probe) === 1,
    ),
    propagator: propagation.fields().length > 0,
    meterProvider: metrics.getMeterProvider().constructor.name !== 'NoopMeterProvider',
  };
}

const NOTHING_REGISTERED = {
  tracerProvider: false,
  contextManager: false,
  propagator: false,
  meterProvider: false,
};

function tracerDelegate(): TracerProvider {
  return (trace.getTracerProvider() as ProxyTracerProvider).getDelegate();
}

function metricNames(exporter: InMemoryMetricExporter): string[] {
  return exporter
    .getMetrics()
    .flatMap(({ scopeMetrics }) => scopeMetrics)
    .flatMap((scope) => scope.metrics.map((metric) => metric.descriptor.name));
}

/** Resolves to the time that a promise took to settle, in milliseconds; rejects if it rejects. */
async function timed(promise: Promise<unknown>): Promise<number> {
  const started = performance.now();
  await promise;
  return performance.now() - started;
}

describe('setupTelemetry, own mode', () => {
  it('H1: set up, shut down, set up again: each exporter gets exactly its own spans', async () => {
    const site = traceFn('orders', 'site')(() => undefined);
    for (const round of ['first', 'second', 'third']) {
      const exporter = new KeepingExporter();
      const handle = await setUpForTest({}, { spanExporter: exporter });
      expect(handle.mode).toBe('own');
      work(round);
      site();
      await withSpan(`${round} parent`, () => new Promise((resolve) => setTimeout(resolve, 1)));
      await handle.shutdown();
      work('between');
      expect(exporter.names).toEqual([round, 'site', `${round} parent`]);
    }
    expect(warnings.codes()).toEqual([]);
    expect(registered()).toEqual(NOTHING_REGISTERED);
  });

  it('H1: context and propagation work in each round', async () => {
    for (let round = 0; round < 2; round++) {
      const exporter = new KeepingExporter();
      const handle = await setUpForTest({}, { spanExporter: exporter });
      const carrier: Record<string, string> = {};
      await withSpan('outer', async () => {
        await new Promise((resolve) => setImmediate(resolve));
        injectContext(carrier);
        work('inner');
      });
      await handle.shutdown();
      const [inner, outer] = exporter.spans;
      expect(inner!.parentSpanContext?.spanId).toBe(outer!.spanContext().spanId);
      expect(carrier.traceparent).toContain(outer!.spanContext().spanId);
    }
  });

  it('H1: a second enabled call while one is live throws before anything is built', async () => {
    const first = new KeepingExporter();
    const second = new KeepingExporter();
    const handle = await setUpForTest({}, { spanExporter: first });
    const provider = tracerDelegate();
    warnings.take();

    const refused = setupTelemetry(quietConfig({ spanGroups: 'cache' }), { spanExporter: second });

    await expect(refused).rejects.toBeInstanceOf(TelemetryAlreadySetUpError);
    await expect(refused).rejects.toMatchObject({ name: 'TelemetryAlreadySetUpError' });
    expect(tracerDelegate()).toBe(provider);
    expect([...enabledSpanGroups()].sort()).toEqual(['cache', 'orders']);
    work('goes to the first');
    await handle.shutdown();
    expect([first.names, second.calls]).toEqual([['goes to the first'], []]);
    expect(warnings.take()).toEqual([]);
  });

  it('H1: of two set-ups begun at once, one is refused', async () => {
    const exporters = [new KeepingExporter(), new KeepingExporter()];
    const results = await Promise.allSettled(
      exporters.map((spanExporter) => setUpForTest({}, { spanExporter })),
    );
    expect(results.map((result) => result.status).sort()).toEqual(['fulfilled', 'rejected']);
    work('once');
    for (const result of results) if (result.status === 'fulfilled') await result.value.shutdown();
    expect(exporters.flatMap((exporter) => exporter.names)).toEqual(['once']);
  });

  it('H1: a set-up right after an unawaited shutdown works, and gets only its own spans', async () => {
    const exporters = [new KeepingExporter(), new KeepingExporter()];
    const first = await setUpForTest({}, { spanExporter: exporters[0]! });
    work('first');
    const stopping = first.shutdown();
    const second = await setUpForTest({}, { spanExporter: exporters[1]! });
    await stopping;
    work('second');
    await second.shutdown();
    expect(exporters.map((exporter) => exporter.names)).toEqual([['first'], ['second']]);
  });

  it('H1: shutting an old handle down again does not touch a newer set-up', async () => {
    const first = await setUpForTest({}, { spanExporter: new KeepingExporter() });
    await first.shutdown();
    const exporter = new KeepingExporter();
    const second = await setUpForTest({}, { spanExporter: exporter });
    await first.shutdown();
    await first.forceFlush();
    work('still on');
    await second.shutdown();
    expect(exporter.names).toEqual(['still on']);
  });

  it('H1: shutdown forgets spec, override and memory, enables nothing, and ends late registrations', async () => {
    const handle = await setUpForTest({ spanGroups: 'default,tpyo' });
    overrideSpanGroups('all');
    warnings.take();
    await handle.shutdown();
    expect([[...enabledSpanGroups()], [...pendingSpanGroups()]]).toEqual([[], []]);
    SpanRegistry.register('after', ['tpyo', 'step'], { default: ['step'] });
    SpanRegistry.unregister('after');
    expect([[...enabledSpanGroups()], warnings.take()]).toEqual([[], []]);
    setSpanGroupSpec('cache');
    expect([...enabledSpanGroups()]).toEqual(['cache']);
  });

  it('H1: a clean shutdown logs nothing, whatever is unregistered before or after it', async () => {
    const handle = await setUpForTest({ spanGroups: 'default' }, { spanExporter: new KeepingExporter() });
    work('place');
    await handle.shutdown();
    SpanRegistry.unregister('shop');
    expect(warnings.codes()).toEqual([]);
  });

  it('H3: applies the spec without a pin, so late libraries still work', async () => {
    await setUpForTest({ spanGroups: 'default,late' });
    expect([[...enabledSpanGroups()], [...pendingSpanGroups()]]).toEqual([['orders'], ['late']]);
    SpanRegistry.register('late_lib', ['late']);
    expect([...enabledSpanGroups()].sort()).toEqual(['late', 'orders']);
    overrideSpanGroups('cache');
    expect([...enabledSpanGroups()]).toEqual(['cache']);
  });

  it('H3: the spec is reported once the providers are there', async () => {
    const providers: boolean[] = [];
    setLensLogger({ warn: () => providers.push(registered().tracerProvider) });
    await setUpForTest({ spanGroups: 'tpyo' });
    expect(providers).toEqual([true]);
  });

  it('W5: a logger that registers while the spec is first reported is not late', async () => {
    setLensLogger({
      warn(_message, { code }) {
        codes.push(code);
        if (codes.length === 1) SpanRegistry.register('from_logger', ['tpyo']);
      },
    });
    const codes: string[] = [];
    await setUpForTest({ spanGroups: 'tpyo' });
    expect([codes, enabledSpanGroups()]).toEqual([['SPEC_UNRESOLVED'], new Set(['tpyo'])]);
    SpanRegistry.register('late_lib', ['late']);
    expect(codes).toEqual(['SPEC_UNRESOLVED', 'LATE_REGISTRATION']);
  });

  it.each(['', ' ', ',', '-', '--', '*', 'tpyo', '__proto__', 'a'.repeat(10_000), '\u0000', '💥', '-*,*'])(
    'H5: no spec can make it fail (row %#)',
    async (spanGroups) => {
      const handle = await setUpForTest({ spanGroups });
      expect(handle.mode).toBe('own');
    },
  );

  it('H8: the handle has a working tracer and meter, and says that it exports', async () => {
    const exporter = new KeepingExporter();
    const handle = await setUpForTest({}, { spanExporter: exporter });
    expect(handle.isExporting).toBe(true);
    handle.tracer.startSpan('by hand').end();
    handle.meter.createCounter('orders').add(1);
    await handle.forceFlush();
    expect(exporter.names).toEqual(['by hand']);
    await handle.shutdown();
    expect(handle.isExporting).toBe(false);
  });

  it('H8: exporter none makes and propagates spans, and exports nothing', async () => {
    const handle = await setUpForTest({ exporter: 'none' });
    expect([handle.mode, handle.isExporting]).toEqual(['own', false]);
    const carrier: Record<string, string> = {};
    managedSpan('orders', 'place', (span) => {
      expect(span?.isRecording()).toBe(true);
      injectContext(carrier);
    });
    expect(carrier.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
  });

  it('C2: with traces off nothing is traced, with a given exporter neither', async () => {
    const exporter = new KeepingExporter();
    const handle = await setUpForTest({ tracesEnabled: false }, { spanExporter: exporter });
    work('place');
    await handle.shutdown();
    expect(exporter.spans).toEqual([]);
  });

  it('C2: the resource carries the run, and the user when there is one', async () => {
    const exporter = new KeepingExporter();
    const handle = await setUpForTest({ runId: 'run-7', userId: 'ada' }, { spanExporter: exporter });
    work('place');
    await handle.shutdown();
    const values = Object.values(exporter.spans[0]!.resource.attributes);
    expect(values).toEqual(expect.arrayContaining(['run-7', 'ada']));
  });
});

describe('setupTelemetry, disabled', () => {
  it('H2: builds no provider, pins the empty set, and hands back an inert handle', async () => {
    const exporter = new KeepingExporter();
    const handle = await setUpForTest({ enabled: false }, { spanExporter: exporter });
    expect({ mode: handle.mode, isExporting: handle.isExporting }).toEqual({
      mode: null,
      isExporting: false,
    });
    expect(registered()).toEqual(NOTHING_REGISTERED);
    SpanRegistry.register('late_lib', ['late'], { default: ['late'] });
    expect([...enabledSpanGroups()]).toEqual([]);
    expect(() => overrideSpanGroups('all')).toThrow(expect.objectContaining({ code: 'PINNED' }));
    handle.tracer.startSpan('nowhere').end();
    await handle.forceFlush();
    await handle.shutdown();
    expect([exporter.calls, warnings.codes()]).toEqual([[], []]);
  });

  it('H2: neither trips nor sets the guard', async () => {
    await setUpForTest({ enabled: false });
    await setUpForTest({ enabled: false });
    const exporter = new KeepingExporter();
    const live = await setUpForTest({}, { spanExporter: exporter });
    await expect(setUpForTest({ enabled: false })).resolves.toMatchObject({ mode: null });
    expect(live.mode).toBe('own');
  });

  describe('in a process of its own', () => {
    let compiled: CompiledCore;
    beforeAll(async () => {
      compiled = await compileCore();
    });
    afterAll(() => compiled.remove());

    const setUp = (config: string): string => `
      import { createRequire } from 'node:module';
      const lens = await import(core);
      const handle = await lens.setupTelemetry({ ...lens.nestLensConfigFromEnv({ env: {} }), exporter: 'none', spanGroups: '', ${config} });
      const loaded = Object.keys(createRequire(import.meta.url).cache)
        .filter((file) => /@opentelemetry\\/(sdk|exporter|resources|instrumentation)/.test(file));
      await handle.shutdown();
      console.log(JSON.stringify({ mode: handle.mode, loaded: loaded.length > 0 }));`;

    it('H2: loads no package of the SDK; an enabled set-up does', async () => {
      const disabled = await compiled.run(setUp('enabled: false'));
      expect(JSON.parse(disabled.stdout)).toEqual({ mode: null, loaded: false });
      const enabled = await compiled.run(setUp('enabled: true'));
      expect(JSON.parse(enabled.stdout)).toEqual({ mode: 'own', loaded: true });
      expect([disabled.stderr, enabled.stderr]).toEqual(['', '']);
    });

    it('H9: a process that imports, sets up and shuts down ends by itself, and leaves no signal handler', async () => {
      const { stdout, stderr } = await compiled.run(`
        const before = process.listenerCount('SIGTERM');
        const lens = await import(core);
        lens.SpanRegistry.register('shop', ['orders']);
        const config = { ...lens.nestLensConfigFromEnv({ env: {} }), enabled: true, exporter: 'none', spanGroups: 'all' };
        for (let round = 0; round < 20; round++) {
          const handle = await lens.setupTelemetry(config);
          lens.managedSpan('orders', 'place', () => undefined);
          await handle.shutdown();
        }
        console.log(process.listenerCount('SIGTERM') - before);`);
      expect([stdout.trim(), stderr]).toEqual(['0', '']);
    });

    it('C5: importing the core has no effect: no timer, no handle, no output', async () => {
      const { stdout, stderr } = await compiled.run(
        `
        await import(core);
        // What the module loader itself has under way is done by then.
        await new Promise((resolve) => setTimeout(resolve, 20));
        console.log(process.getActiveResourcesInfo().length);`,
        { NEST_LENS_ENABLED: 'maybe' },
      );
      expect([stdout.trim(), stderr]).toEqual(['0', '']);
    });
  });
});

describe('a set-up that fails', () => {
  const boom = (): never => {
    throw new Error('boom');
  };

  it.each<[string, () => SetupOptions]>([
    [
      'a metric reader, after context and propagation are registered',
      () => {
        const nothing = () => Promise.resolve();
        const methods = { collect: nothing, forceFlush: nothing, shutdown: nothing };
        return { metricReader: { ...methods, setMetricProducer: boom } };
      },
    ],
    [
      'resource attributes',
      () => ({ resourceAttributes: Object.defineProperty({}, 'broken', { enumerable: true, get: boom }) }),
    ],
  ])('H4: because of %s leaves nothing registered, and the next one works', async (_cause, options) => {
    await expect(setUpForTest({ metricsEnabled: true }, options())).rejects.toThrow('boom');
    expect(registered()).toEqual(NOTHING_REGISTERED);
    expect([...enabledSpanGroups()]).toEqual([]);
    SpanRegistry.register('after', ['step']);
    expect(warnings.codes()).not.toContain('LATE_REGISTRATION');

    const exporter = new KeepingExporter();
    const handle = await setUpForTest({}, { spanExporter: exporter });
    work('after');
    await handle.shutdown();
    expect(exporter.names).toEqual(['after']);
  });

  it('C3: an invalid config is refused before anything is built', async () => {
    const config = { ...quietConfig(), exporter: 'jaeger' as never };
    await expect(setupTelemetry(config)).rejects.toMatchObject({ name: 'ConfigError' });
    expect(registered()).toEqual(NOTHING_REGISTERED);
    await expect(setUpForTest()).resolves.toMatchObject({ mode: 'own' });
  });
});

describe('what the application registered besides a tracer provider', () => {
  it('H6: a context manager and a propagator of its own are kept, during the set-up and after it', async () => {
    const manager = new AsyncLocalStorageContextManager().enable();
    context.setGlobalContextManager(manager);
    const entered = vi.spyOn(manager, 'with');
    const propagator = { inject: vi.fn(), extract: (into: Context) => into, fields: () => ['x-own'] };
    propagation.setGlobalPropagator(propagator);
    const exporter = new KeepingExporter();
    const handle = await setUpForTest({}, { spanExporter: exporter });
    expect(handle.mode).toBe('own');
    managedSpan('orders', 'place', () => injectContext({}));
    expect([entered.mock.calls.length > 0, propagator.inject.mock.calls.length]).toEqual([true, 1]);
    await handle.shutdown();
    expect(exporter.names).toEqual(['place']);
    expect(registered()).toEqual({ ...NOTHING_REGISTERED, contextManager: true, propagator: true });
    expect(propagation.fields()).toEqual(['x-own']);
  });

  it('H6: a meter provider of its own is kept', async () => {
    const reader = new PeriodicExportingMetricReader({
      exporter: new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE),
      exportIntervalMillis: 60_000,
    });
    const provider = new MeterProvider({ readers: [reader] });
    metrics.setGlobalMeterProvider(provider);
    const handle = await setUpForTest({ metricsEnabled: true }, { spanExporter: new KeepingExporter() });
    expect(metrics.getMeterProvider()).toBe(provider);
    await handle.shutdown();
    expect(metrics.getMeterProvider()).toBe(provider);
    await provider.shutdown();
  });
});

describe('what tells that nothing is registered', () => {
  const noops = (): object[] => [metrics.getMeterProvider().constructor, tracerDelegate().constructor];
  let names: string[];
  beforeEach(() => {
    names = noops().map((Class) => (Class as { name: string }).name);
    for (const Class of noops()) Object.defineProperty(Class, 'name', { value: 't', configurable: true });
  });
  afterEach(() => {
    trace.disable();
    metrics.disable();
    for (const [at, Class] of noops().entries()) {
      Object.defineProperty(Class, 'name', { value: names[at], configurable: true });
    }
  });

  it('H6: does not depend on the names of classes, which bundlers change', async () => {
    const metricExporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
    const exporter = new KeepingExporter();
    const handle = await setUpForTest(
      { metricsEnabled: true },
      {
        spanExporter: exporter,
        metricReader: new PeriodicExportingMetricReader({
          exporter: metricExporter,
          exportIntervalMillis: 60_000,
        }),
      },
    );
    expect(handle.mode).toBe('own');
    work('place');
    handle.meter.createCounter('orders.placed').add(1);
    await handle.forceFlush();
    expect(exporter.names).toEqual(['place']);
    expect(metricNames(metricExporter)).toContain('orders.placed');
    await handle.shutdown();
    expect([tracerDelegate().constructor.name, metrics.getMeterProvider().constructor.name]).toEqual([
      't',
      't',
    ]);
  });
});

describe('instrumentations', () => {
  class Probe {
    readonly instrumentationName = 'probe';
    readonly instrumentationVersion = '1.0.0';
    readonly calls: string[] = [];
    private tracer: Tracer | undefined;
    /** Some take their tracer when they patch, and keep it. */
    private kept: Tracer | undefined;

    work(name: string): void {
      this.kept ??= this.tracer!;
      this.kept.startActiveSpan(name, (span) => span.end());
      this.kept.startSpan(`part of ${name}`).end();
    }
    setTracerProvider = (provider: TracerProvider) => void (this.tracer = provider.getTracer('probe'));
    setMeterProvider = () => undefined;
    enable = () => void this.calls.push('enable');
    disable = () => void this.calls.push('disable');
    getConfig = () => ({ enabled: true });
    setConfig = () => undefined;
  }
  const boom = (): never => {
    throw new Error('boom');
  };

  it.each<[string, object]>([
    ['throws in setTracerProvider', { setTracerProvider: boom }],
    ['throws in setMeterProvider', { setMeterProvider: boom }],
    ['throws in enable', { getConfig: () => ({ enabled: false }), enable: boom }],
    [
      'throws wherever it can',
      { getConfig: boom, enable: boom, setTracerProvider: boom, setMeterProvider: boom },
    ],
  ])('H12: that %s costs itself and one warning', async (_, methods) => {
    const exporter = new KeepingExporter();
    const metricReader = new PeriodicExportingMetricReader({
      exporter: new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE),
      exportIntervalMillis: 60_000,
    });
    const instrumentations = [Object.assign(new Probe(), methods), new Probe()];
    const options = { instrumentations, spanExporter: exporter, metricReader };
    const handle = await setUpForTest({ metricsEnabled: true }, options);
    instrumentations[1]!.work('work');
    await handle.shutdown();
    expect(exporter.names).toEqual(['work', 'part of work']);
    expect(warnings.codes()).toEqual(['INSTRUMENTATION_FAILED']);
    expect(warnings.single('INSTRUMENTATION_FAILED').message).toContain("'probe'");
  });

  it('H7: that has no more than its type asks for is enabled', async () => {
    const enable = vi.fn();
    const instrumentation = { instrumentationName: 'small', enable, disable: () => undefined };
    await setUpForTest({ metricsEnabled: true }, { instrumentations: [instrumentation] });
    expect(enable).toHaveBeenCalledTimes(1);
    expect(warnings.codes()).toEqual([]);
  });

  it.each([
    ['that are given each time', [true, true]],
    ['that are given once', [true, false]],
  ])('H1: %s make spans in each set-up, and none in between', async (_, rounds) => {
    const probe = new Probe();
    for (const isGiven of rounds) {
      const exporter = new KeepingExporter();
      const options = isGiven ? { instrumentations: [[probe]] } : {};
      const handle = await setUpForTest({}, { ...options, spanExporter: exporter });
      probe.work('work');
      await handle.shutdown();
      probe.work('between');
      expect(exporter.names).toEqual(['work', 'part of work']);
    }
    expect(probe.calls).toEqual([]);
  });
});

describe('setupTelemetry, attach mode', () => {
  let exporter: KeepingExporter;
  let provider: BasicTracerProvider;
  beforeEach(() => {
    exporter = new KeepingExporter();
    provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
    trace.setGlobalTracerProvider(provider);
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  });

  it('H6: a provider that the application registered is used, and the handle says so', async () => {
    const handle = await setUpForTest();
    expect([handle.mode, handle.isExporting]).toEqual(['attach', true]);
    expect(tracerDelegate()).toBe(provider);
    work('place');
    handle.tracer.startSpan('by hand').end();
    expect(exporter.names).toEqual(['place', 'by hand']);
    expect(warnings.codes()).toEqual([]);
  });

  it('H6: also when it is asked for by name', async () => {
    const handle = await setUpForTest({}, { mode: 'attach' });
    expect(handle.mode).toBe('attach');
    expect(tracerDelegate()).toBe(provider);
  });

  it('H6: it is never replaced, also when own mode is asked for', async () => {
    const handle = await setUpForTest({}, { mode: 'own' });
    expect(handle.mode).toBe('attach');
    expect(tracerDelegate()).toBe(provider);
  });

  it('H6: it is never shut down by us: the application goes on with it', async () => {
    const shutdown = vi.spyOn(provider, 'shutdown');
    const handle = await setUpForTest();
    work('before');
    await handle.shutdown();
    work('off by now');
    withSpan('after', () => undefined);
    provider.getTracer('app').startSpan('of the application').end();
    expect(shutdown).not.toHaveBeenCalled();
    expect(exporter.calls).not.toContain('shutdown');
    expect(exporter.names).toEqual(['before', 'after', 'of the application']);
    expect(tracerDelegate()).toBe(provider);
    expect(registered().contextManager).toBe(true);
  });

  it('H6: shutdown flushes what it holds of ours', async () => {
    trace.disable();
    const batching = new BasicTracerProvider({
      spanProcessors: [new BatchSpanProcessor(exporter, { scheduledDelayMillis: 60_000 })],
    });
    trace.setGlobalTracerProvider(batching);
    const handle = await setUpForTest();
    work('held');
    expect(exporter.names).toEqual([]);
    await handle.shutdown();
    expect(exporter.names).toEqual(['held']);
    await batching.shutdown();
  });

  it('H9: a provider that never answers does not hold the shutdown up', async () => {
    const flush = vi.spyOn(provider, 'forceFlush').mockReturnValue(new Promise(() => undefined));
    const handle = await setUpForTest();
    expect(await timed(handle.shutdown(100))).toBeLessThan(1_000);
    expect([flush.mock.calls.length, warnings.all.length]).toEqual([1, 1]);
    flush.mockRestore();
  });

  it('H6: attach, shut down, attach again', async () => {
    for (const name of ['first', 'second']) {
      const handle = await setUpForTest();
      work(name);
      await handle.shutdown();
    }
    expect(exporter.names).toEqual(['first', 'second']);
  });

  it('H6: a given exporter, which cannot be used then, is said to be ignored, once', async () => {
    const ignored = new KeepingExporter();
    await setUpForTest({}, { spanExporter: ignored });
    work('place');
    expect([exporter.names, ignored.calls, warnings.all.length]).toEqual([['place'], [], 1]);
  });

  it('H6: what is not for the SDK counts as in own mode, and is not said to be ignored', async () => {
    const stop = vi.fn();
    const specSource: SpanGroupSpecSource = {
      name: 'flags',
      watch(onSpec) {
        onSpec('cache');
        return stop;
      },
    };
    const requestOptIn = { key: 'k'.repeat(32) };
    const handle = await setUpForTest(
      { spanGroups: 'orders' },
      { specSource, requestOptIn, isError: () => false, instrumentationGroups: false },
    );
    expect([handle.mode, [...enabledSpanGroups()], warnings.codes()]).toEqual(['attach', ['cache'], []]);
    await handle.shutdown();
    expect(stop).toHaveBeenCalledTimes(1);
  });

  it('H2: a disabled set-up leaves the provider alone', async () => {
    const handle = await setUpForTest({ enabled: false });
    work('off');
    await handle.shutdown();
    expect(exporter.calls).toEqual([]);
    expect(tracerDelegate()).toBe(provider);
  });
});

describe('given exporters, processors and readers', () => {
  /** A processor that keeps ended spans until it is flushed, and loses them at shutdown. */
  class HoldingProcessor implements SpanProcessor {
    readonly flushed: string[] = [];
    readonly calls: string[] = [];
    private held: string[] = [];
    onStart(): void {}
    onEnd(span: ReadableSpan): void {
      this.held.push(span.name);
    }
    forceFlush(): Promise<void> {
      this.calls.push('forceFlush');
      this.flushed.push(...this.held.splice(0));
      return Promise.resolve();
    }
    shutdown(): Promise<void> {
      this.calls.push('shutdown');
      this.held = [];
      return Promise.resolve();
    }
  }

  it('H7: a span exporter is used instead of the configured one', async () => {
    const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    const exporter = new KeepingExporter();
    const handle = await setUpForTest({ exporter: 'console' }, { spanExporter: exporter });
    work('place');
    await handle.shutdown();
    expect([exporter.names, write.mock.calls]).toEqual([['place'], []]);
    write.mockRestore();
  });

  it('H7: span processors are used instead of the configured exporter', async () => {
    const processors = [new HoldingProcessor(), new HoldingProcessor()];
    const handle = await setUpForTest({}, { spanProcessors: processors });
    expect(handle.isExporting).toBe(true);
    work('place');
    await handle.shutdown();
    expect(processors.map((processor) => processor.flushed)).toEqual([['place'], ['place']]);
  });

  it('H7: with both an exporter and processors, all receive every span', async () => {
    const exporter = new KeepingExporter();
    const processor = new HoldingProcessor();
    const handle = await setUpForTest({}, { spanExporter: exporter, spanProcessors: [processor] });
    work('a');
    work('b');
    await handle.shutdown();
    expect([exporter.names, processor.flushed]).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ]);
  });

  it('H7: the list of processors that was given is not changed', async () => {
    const spanProcessors = [new HoldingProcessor()];
    await setUpForTest({}, { spanExporter: new KeepingExporter(), spanProcessors });
    expect(spanProcessors).toHaveLength(1);
  });

  it('H7: a metric reader is used for metrics, and shut down with the rest', async () => {
    const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
    const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 60_000 });
    const shutdown = vi.spyOn(reader, 'shutdown');
    const exported: string[] = [];
    const originalExport = exporter.export.bind(exporter);
    exporter.export = (metricsData, done) => {
      exported.push(
        ...metricsData.scopeMetrics.flatMap((scope) => scope.metrics.map((metric) => metric.descriptor.name)),
      );
      originalExport(metricsData, done);
    };
    const handle = await setUpForTest({ metricsEnabled: true }, { metricReader: reader });
    handle.meter.createCounter('orders.placed').add(1);
    await handle.shutdown();
    expect(exported).toContain('orders.placed');
    expect(shutdown).toHaveBeenCalledTimes(1);
  });

  it('H9: what a processor still holds is flushed before its shutdown', async () => {
    const processor = new HoldingProcessor();
    const handle = await setUpForTest({}, { spanProcessors: [processor] });
    work('held');
    await handle.shutdown();
    expect([processor.flushed, processor.calls]).toEqual([['held'], ['forceFlush', 'shutdown']]);
  });

  it('H9: a batch that is waiting is exported before the exporter is shut down', async () => {
    const exporter = new KeepingExporter();
    const handle = await setUpForTest(
      {},
      { spanProcessors: [new BatchSpanProcessor(exporter, { scheduledDelayMillis: 60_000 })] },
    );
    work('waiting');
    await handle.shutdown();
    expect(exporter.names).toEqual(['waiting']);
    expect(exporter.calls.indexOf('export')).toBeLessThan(exporter.calls.indexOf('shutdown'));
  });

  it('H8: forceFlush exports what is waiting, and telemetry goes on', async () => {
    const exporter = new KeepingExporter();
    const handle = await setUpForTest({}, { spanExporter: exporter });
    work('a');
    await handle.forceFlush();
    expect(exporter.names).toEqual(['a']);
    work('b');
    await handle.forceFlush(1_000);
    expect(exporter.names).toEqual(['a', 'b']);
    expect(warnings.codes()).toEqual([]);
  });

  it('H8: forceFlush flushes a given metric reader too', async () => {
    const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
    const metricReader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 60_000 });
    const handle = await setUpForTest({ metricsEnabled: true }, { metricReader });
    handle.meter.createCounter('orders.placed').add(1);
    expect(metricNames(exporter)).toEqual([]);
    await handle.forceFlush();
    expect(metricNames(exporter)).toContain('orders.placed');
  });
});

describe('shutdown', () => {
  it('H9: is idempotent, one after the other and at once', async () => {
    const exporter = new KeepingExporter();
    const handle = await setUpForTest({}, { spanExporter: exporter });
    work('place');
    await Promise.all([handle.shutdown(), handle.shutdown(), handle.shutdown(1_000)]);
    await handle.shutdown();
    expect(exporter.names).toEqual(['place']);
    expect(exporter.calls.filter((call) => call === 'shutdown')).toHaveLength(1);
    expect(warnings.codes()).toEqual([]);
  });

  const never = (): Promise<void> => new Promise(() => undefined);
  const unanswered: ((result: { code: number }) => void)[] = [];
  afterEach(() => {
    for (const done of unanswered.splice(0)) done({ code: 0 });
  });

  /** Answers only when the test is over: the SDK's own timers would keep the process alive until then. */
  class SilentExporter extends KeepingExporter {
    override export(_spans: ReadableSpan[], done: (result: { code: number }) => void): void {
      this.calls.push('export');
      unanswered.push(done);
    }
  }
  class NeverShutDown extends KeepingExporter {
    override shutdown(): Promise<void> {
      this.calls.push('shutdown');
      return never();
    }
  }
  class FailingExporter extends KeepingExporter {
    override export(_spans: ReadableSpan[], done: (result: { code: number; error?: Error }) => void): void {
      done({ code: 1, error: new Error('the collector is away') });
    }
  }
  class RejectingShutdown extends KeepingExporter {
    override shutdown(): Promise<void> {
      return Promise.reject(new Error('the collector is away'));
    }
  }
  class ThrowingExporter extends KeepingExporter {
    override shutdown(): Promise<void> {
      throw new Error('the collector is away');
    }
  }

  it.each<[string, () => KeepingExporter]>([
    ['never answers', () => new SilentExporter()],
    ['never shuts down', () => new NeverShutDown()],
    ['fails', () => new FailingExporter()],
    ['rejects its shutdown', () => new RejectingShutdown()],
    ['throws at its shutdown', () => new ThrowingExporter()],
  ])(
    'H9: with an exporter that %s it settles within its limit, does not reject, and warns once',
    async (_how, make) => {
      const handle = await setUpForTest({}, { spanExporter: make() });
      work('place');
      warnings.take();
      expect(await timed(handle.shutdown(300))).toBeLessThan(1_500);
      await handle.shutdown(300);
      expect(warnings.take()).toHaveLength(1);
      expect(registered()).toEqual(NOTHING_REGISTERED);
      expect(isSpanGroupEnabled('orders')).toBe(false);
    },
  );

  it('H9: with a flush that outlasts the limit, the shutdown of the pipeline is still begun', async () => {
    const calls: string[] = [];
    const processor: SpanProcessor = {
      onStart: () => undefined,
      onEnd: () => undefined,
      forceFlush: () => {
        calls.push('forceFlush');
        return new Promise((resolve) => unanswered.push(() => resolve()));
      },
      shutdown: async () => void calls.push('shutdown'),
    };
    const handle = await setUpForTest({}, { spanProcessors: [processor] });
    await handle.shutdown(30);
    expect(calls).toEqual(['forceFlush', 'shutdown']);
    expect(warnings.codes()).toEqual(['FLUSH_INCOMPLETE']);
  });

  class SlowExporter extends KeepingExporter {
    override export(spans: ReadableSpan[], done: (result: { code: number }) => void): void {
      setTimeout(() => super.export(spans, done), 30);
    }
  }

  it.each([NaN, -1, null, '1', undefined])(
    'H8, H9: %p is no limit, so the default is in force',
    async (given) => {
      const timeoutMs = given as number;
      const exporter = new SlowExporter();
      const handle = await setUpForTest({}, { spanExporter: exporter });
      work('flushed');
      await handle.forceFlush(timeoutMs);
      expect(exporter.names).toEqual(['flushed']);
      work('last');
      await handle.shutdown(timeoutMs);
      expect([exporter.names, warnings.codes()]).toEqual([['flushed', 'last'], []]);
      const failing = await setUpForTest({}, { spanExporter: new FailingExporter() });
      work('lost');
      await failing.shutdown(timeoutMs);
      expect(warnings.single('FLUSH_INCOMPLETE').details).toMatchObject({ timeoutMs: 5_000 });
    },
  );

  it.each([2 ** 31, Infinity])('H9: a limit of %d ms is no limit of one', async (timeoutMs) => {
    const exporter = new SlowExporter();
    const handle = await setUpForTest({}, { spanExporter: exporter });
    work('slow');
    await handle.shutdown(timeoutMs);
    expect([exporter.names, warnings.codes()]).toEqual([['slow'], []]);
  });

  it('H9: an exporter that never answers does not stand in the way of the next set-up', async () => {
    const handle = await setUpForTest({}, { spanExporter: new SilentExporter() });
    work('lost');
    await handle.shutdown(50);
    const exporter = new KeepingExporter();
    const second = await setUpForTest({}, { spanExporter: exporter });
    work('second');
    await second.shutdown();
    expect(exporter.names).toEqual(['second']);
  });

  it('H9: a collector that refuses connections: no rejection, one warning', async () => {
    // A port that was free a moment ago, so that nobody listens there.
    const server = createServer();
    const port = await new Promise<number>((resolve) =>
      server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port)),
    );
    await new Promise((resolve) => server.close(resolve));
    process.env.OTEL_EXPORTER_OTLP_ENDPOINT = `http://127.0.0.1:${port}`;
    process.env.OTEL_EXPORTER_OTLP_TIMEOUT = '800';
    const handle = await setUpForTest({ exporter: 'otlp' });
    work('place');
    warnings.take();
    expect(await timed(handle.shutdown(500))).toBeLessThan(2_000);
    expect(warnings.take()).toHaveLength(1);
  });

  it('H8: forceFlush settles within its limit and does not reject either', async () => {
    const handle = await setUpForTest({}, { spanExporter: new SilentExporter() });
    work('place');
    expect(await timed(handle.forceFlush(100))).toBeLessThan(1_000);
    await handle.shutdown(100);
  });
});

describe('the console exporter', () => {
  it('H7: prints one compact JSON line a span, with what matters in it', async () => {
    const lines: string[] = [];
    const write = vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
      lines.push(String(chunk).replace(/\n$/, ''));
      return true;
    });
    const handle = await setUpForTest({ exporter: 'console' });
    expect(handle.isExporting).toBe(true);
    expect(() =>
      withSpan('outer\nname', () =>
        managedSpan('orders', 'place', { attributes: { 'order.id': 7, note: 'two\nlines' } }, () => {
          throw new Error('sold out');
        }),
      ),
    ).toThrow('sold out');
    await handle.shutdown();
    write.mockRestore();

    expect(lines).toHaveLength(2);
    for (const line of lines) expect(line).not.toContain('\n');
    const [inner, outer] = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(inner).toMatchObject({ name: 'place', attributes: { 'order.id': 7, 'nestlens.group': 'orders' } });
    expect(outer).toMatchObject({ name: 'outer\nname' });
    expect(lines[0]).toContain('sold out');
    expect(
      lines.map((line) => /[0-9a-f]{32}/.exec(line)?.[0]).every((id, _index, ids) => id === ids[0]),
    ).toBe(true);
  });
});

describe('standard OTEL_* variables', () => {
  const SERVICE = 'service.name';

  it.each<[string, NodeJS.ProcessEnv, string | undefined, string]>([
    ['OTEL_SERVICE_NAME', { OTEL_SERVICE_NAME: 'from-name' }, undefined, 'from-name'],
    [
      'OTEL_RESOURCE_ATTRIBUTES',
      { OTEL_RESOURCE_ATTRIBUTES: 'service.name=from-attributes' },
      undefined,
      'from-attributes',
    ],
    [
      'OTEL_SERVICE_NAME before OTEL_RESOURCE_ATTRIBUTES',
      { OTEL_SERVICE_NAME: 'from-name', OTEL_RESOURCE_ATTRIBUTES: 'service.name=from-attributes' },
      undefined,
      'from-name',
    ],
    ['the option before OTEL_SERVICE_NAME', { OTEL_SERVICE_NAME: 'from-name' }, 'explicit', 'explicit'],
    [
      'the option before OTEL_RESOURCE_ATTRIBUTES',
      { OTEL_RESOURCE_ATTRIBUTES: 'service.name=from-attributes' },
      'explicit',
      'explicit',
    ],
  ])('H11: service.name is that of %s', async (_source, env, serviceName, expected) => {
    Object.assign(process.env, env);
    const exporter = new KeepingExporter();
    const handle = await setUpForTest(serviceName === undefined ? {} : { serviceName }, {
      spanExporter: exporter,
    });
    work('place');
    await handle.shutdown();
    expect(exporter.spans[0]!.resource.attributes[SERVICE]).toBe(expected);
  });

  it('H11: other resource attributes survive, and explicit ones are added', async () => {
    process.env.OTEL_RESOURCE_ATTRIBUTES = 'team=checkout,deployment.environment.name=test';
    const exporter = new KeepingExporter();
    const handle = await setUpForTest(
      {},
      { spanExporter: exporter, resourceAttributes: { region: 'north', team: 'explicit' } },
    );
    work('place');
    await handle.shutdown();
    expect(exporter.spans[0]!.resource.attributes).toMatchObject({
      team: 'explicit',
      'deployment.environment.name': 'test',
      region: 'north',
    });
  });

  it("H11: the sampler is the SDK's business", async () => {
    process.env.OTEL_TRACES_SAMPLER = 'always_off';
    const exporter = new KeepingExporter();
    const handle = await setUpForTest({}, { spanExporter: exporter });
    expect(managedSpan('orders', 'place', (span) => span?.isRecording())).toBe(false);
    await handle.shutdown();
    expect(exporter.spans).toEqual([]);
  });

  it('H11: OTEL_TRACES_EXPORTER decides for exporter otlp: none tries no connection', async () => {
    const connections: unknown[] = [];
    const server = createServer((socket) => {
      connections.push(socket);
      socket.destroy();
    });
    const port = await new Promise<number>((resolve) =>
      server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port)),
    );
    Object.assign(process.env, {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_TRACES_EXPORTER: 'none',
    });
    const handle = await setUpForTest({ exporter: 'otlp' });
    work('place');
    await handle.shutdown();
    expect(connections).toEqual([]);
    await new Promise((resolve) => server.close(resolve));
    expect(warnings.codes()).toEqual([]);
  });
});
