// Set-up, shutdown, whose provider it is, and what an application may get wrong in the options.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  context,
  type ContextManager,
  metrics,
  type ProxyTracerProvider,
  SpanKind,
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
import { BasicTracerProvider, type ReadableSpan } from '@opentelemetry/sdk-trace-base';
import {
  enabledSpanGroups,
  type InstrumentationGroupsOptions,
  setSpanGroupSpec,
  type SetupOptions,
  SpanRegistry,
  type TelemetryHandle,
} from 'nest-lens/core';
import { processState } from '../../../src/core/state/process-state.js';
import { captureWarnings } from '../../support/capture-warnings.js';
import { setUpForTest } from '../../support/live-telemetry.js';
import { pgInstrumentation } from './pg-instrumentation.js';

const PG = '@opentelemetry/instrumentation-pg';
const HTTP = '@opentelemetry/instrumentation-http';
const EXPRESS = '@opentelemetry/instrumentation-express';

const ended: ReadableSpan[] = [];
beforeEach(() => {
  captureWarnings(); // none on the console
  ended.length = 0;
});

const keeping = {
  onStart: () => undefined,
  onEnd: (span: ReadableSpan) => void ended.push(span),
  forceFlush: () => Promise.resolve(),
  shutdown: () => Promise.resolve(),
};

const names = (): string[] => ended.map((span) => span.name);

function setUp(spanGroups: string, options: SetupOptions = {}): Promise<TelemetryHandle> {
  return setUpForTest({ spanGroups }, { spanProcessors: [keeping], instrumentationGroups: true, ...options });
}

function attach(spanGroups: string, instrumentationGroups: SetupOptions['instrumentationGroups'] = true) {
  return setUpForTest({ spanGroups }, { instrumentationGroups });
}

/** A provider of the application, registered before NestLens comes. */
function registerProvider(provider: TracerProvider = new BasicTracerProvider({ spanProcessors: [keeping] })) {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(provider);
}

describe('set-up and shutdown', () => {
  it('a shutdown takes everything back', async () => {
    registerProvider();
    const tracer = trace.getTracer(PG);
    const prototype = Object.getPrototypeOf(tracer) as Tracer;
    const { startSpan } = prototype;
    const handle = await attach('');
    expect(prototype.startSpan).not.toBe(startSpan);
    expect(tracer.startSpan('off').isRecording()).toBe(false);
    await handle.shutdown();
    expect(prototype.startSpan).toBe(startSpan);
    expect(SpanRegistry.namespaces()).toEqual([]);
    const off = tracer.startSpan('after');
    context.with(trace.setSpan(context.active(), off), () => expect(trace.getActiveSpan()).toBe(off));
    off.end();
    expect(names()).toEqual(['after']);
  });

  it('a clean one logs nothing', async () => {
    const warnings = captureWarnings();
    const handle = await setUp('pg', { instrumentations: [pgInstrumentation()] });
    trace.getTracer(PG).startSpan('query').end();
    await handle.shutdown();
    expect(warnings.codes()).toEqual([]);
  });

  it('what somebody else has put before ours in the meantime stays', async () => {
    registerProvider();
    const prototype = Object.getPrototypeOf(trace.getTracer(PG)) as Tracer;
    const { startSpan } = prototype;
    const handle = await attach('');
    const gated = prototype.startSpan;
    const theirs = function (this: Tracer, ...args: Parameters<Tracer['startSpan']>) {
      return gated.apply(this, args);
    };
    prototype.startSpan = theirs;
    try {
      await handle.shutdown();
      expect(prototype.startSpan).toBe(theirs);
      expect(trace.getTracer(PG).startSpan('after').isRecording()).toBe(true);
    } finally {
      prototype.startSpan = startSpan;
    }
  });

  it('a second set-up gates again, by its own spec', async () => {
    const first = await setUp('pg');
    trace.getTracer(PG).startSpan('first').end();
    await first.shutdown();
    await setUp('express');
    trace.getTracer(PG).startSpan('query').end();
    trace.getTracer(EXPRESS).startSpan('handler').end();
    expect(names()).toEqual(['first', 'handler']);
  });

  it('without telemetry nothing happens', async () => {
    registerProvider();
    await setUpForTest({ enabled: false }, { instrumentationGroups: true });
    trace.getTracer(PG).startSpan('query').end();
    expect(names()).toEqual(['query']);
    expect(SpanRegistry.namespaces()).toEqual([]);
  });

  it('the configuration asks for it as well, and the option beats it', async () => {
    const options: SetupOptions = { spanProcessors: [keeping] };
    const first = await setUpForTest({ spanGroups: '', instrumentationGroups: true }, options);
    expect(trace.getTracer(PG).startSpan('query').isRecording()).toBe(false);
    await first.shutdown();
    await setUpForTest(
      { spanGroups: '', instrumentationGroups: true },
      { ...options, instrumentationGroups: false },
    );
    expect(trace.getTracer(PG).startSpan('query').isRecording()).toBe(true);
  });
});

describe('something that throws', () => {
  const fail = (): never => {
    throw new Error('boom');
  };

  it('H4: fails a set-up, which takes back the gates and the metrics that were there already', async () => {
    const manager = new AsyncLocalStorageContextManager().enable();
    const { with: enter, bind } = manager;
    // The last thing that is gated.
    Object.defineProperty(manager, 'attach', { get: fail });
    context.setGlobalContextManager(manager);
    const provider = new BasicTracerProvider({ spanProcessors: [keeping] });
    trace.setGlobalTracerProvider(provider);
    const reader = new PeriodicExportingMetricReader({
      exporter: new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE),
      exportIntervalMillis: 1_000_000,
    });
    metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
    const prototype = Object.getPrototypeOf(trace.getTracer(PG)) as Tracer;
    const { startSpan } = prototype;
    const options: SetupOptions = { instrumentationGroups: true, requestOptIn: { key: 'k'.repeat(32) } };

    await expect(setUpForTest({ metricsEnabled: true, spanGroups: '' }, options)).rejects.toThrow('boom');

    expect([prototype.startSpan === startSpan, manager.with === enter, manager.bind === bind]).toEqual([
      true,
      true,
      true,
    ]);
    trace.getTracer(PG).startSpan('query').end();
    expect([names(), SpanRegistry.namespaces()]).toEqual([['query'], []]);
    const { resourceMetrics } = await reader.collect();
    expect(resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics)).toEqual([]);
    const { spanCounts, requestOptIn, telemetry } = processState;
    expect([spanCounts, requestOptIn, telemetry.mode, telemetry.phase]).toEqual([
      undefined,
      undefined,
      null,
      'off',
    ]);
    await reader.shutdown();
  });

  const callbacks = new Set<unknown>();
  const observable = {
    addCallback: (callback: unknown) => void callbacks.add(callback),
    removeCallback: (callback: unknown) => void callbacks.delete(callback),
  };
  /** A meter whose counters differ from its gauges. */
  function registerMeter(counter: Partial<typeof observable>): void {
    const meter = {
      createObservableGauge: () => observable,
      createObservableCounter: () => ({ ...observable, ...counter }),
    };
    metrics.setGlobalMeterProvider({ getMeter: () => meter as never });
  }

  it('H4: fails a set-up, which takes back the metrics that were there before', async () => {
    registerProvider();
    registerMeter({ addCallback: fail });
    await expect(setUpForTest({ metricsEnabled: true })).rejects.toThrow('boom');
    expect([callbacks.size, processState.spanCounts]).toEqual([0, undefined]);
  });

  it('H9: fails no shutdown, which takes back the rest', async () => {
    registerProvider();
    callbacks.clear();
    registerMeter({ removeCallback: fail });
    const handle = await setUpForTest({ metricsEnabled: true });
    expect(callbacks.size).toBe(2);
    await handle.shutdown();
    expect([callbacks.size, processState.telemetry.phase]).toEqual([1, 'off']);
  });
});

describe("the application's provider", () => {
  it('is gated too, for tracers that were taken, and have made spans, before', async () => {
    registerProvider();
    const warnings = captureWarnings();
    const early = trace.getTracer(PG);
    early.startSpan('before').end();
    await attach('express,pg');
    early.startSpan('query').end();
    setSpanGroupSpec('express');
    early.startSpan('off').end();
    expect(names()).toEqual(['before', 'query']);
    expect(warnings.codes()).not.toContain('PROVIDER_KEPT');
  });

  it('says by its tracers which scopes there are, before the spec is checked', async () => {
    registerProvider();
    trace.getTracer(PG, '0.76.0').startSpan('before').end();
    trace.getTracer('reports').startSpan('before').end();
    const warnings = captureWarnings();
    await attach('reports,pg');
    expect(warnings.codes()).toEqual([]);
    expect(enabledSpanGroups()).toEqual(new Set(['pg', 'reports']));
  });

  it('gates as ever where its list of tracers has what is none', async () => {
    const provider = new BasicTracerProvider({ spanProcessors: [keeping] });
    const { _tracers: tracers } = provider as unknown as { _tracers: Map<string, unknown> };
    for (const [i, none] of [null, 5, {}, { instrumentationScope: { name: 5 } }].entries()) {
      tracers.set(String(i), none);
    }
    registerProvider(provider);
    await attach('');
    expect([...SpanRegistry.groups()]).toEqual([]);
    expect(trace.getTracer(PG).startSpan('off').isRecording()).toBe(false);
  });

  /** Another vendor's: its tracers are plain objects that say nothing. */
  function foreignProvider(): TracerProvider & { flushed: number; forceFlush(): Promise<void> } {
    const sdk = new BasicTracerProvider({ spanProcessors: [keeping] });
    return {
      flushed: 0,
      getTracer(name, version) {
        const tracer = sdk.getTracer(name, version);
        const startActiveSpan = (...args: never[]): unknown =>
          Reflect.apply(tracer.startActiveSpan, tracer, args);
        return {
          startSpan: (...args) => tracer.startSpan(...args),
          startActiveSpan,
        };
      },
      forceFlush() {
        this.flushed++;
        return Promise.resolve();
      },
    };
  }

  it('whose tracers say nothing has a gated one put before it, which a warning tells', async () => {
    const foreign = foreignProvider();
    registerProvider(foreign);
    const before = trace.getTracer(PG);
    const warnings = captureWarnings();
    const handle = await attach('http_server');
    expect(warnings.single('INSTRUMENTATIONS_UNGATED').details).toEqual({
      spans: 'earlier tracers',
      isOffSpanActive: false,
    });
    before.startSpan('ungated').end();
    trace.getTracer(PG).startSpan('query').end();
    trace.getTracer(HTTP).startActiveSpan('GET', { kind: SpanKind.SERVER }, (server) => {
      trace.getTracer(EXPRESS).startActiveSpan('handler', (off) => {
        expect(off.isRecording()).toBe(false);
        expect(trace.getActiveSpan()).toBe(server);
      });
      server.end();
    });
    expect(names()).toEqual(['ungated', 'GET']);
    await handle.forceFlush();
    expect(foreign.flushed).toBe(1);
    await handle.shutdown();
    expect((trace.getTracerProvider() as unknown as { getDelegate(): unknown }).getDelegate()).toBe(foreign);
  });

  it('whose tracers say nothing has them gated again by the next set-up, by its spec', async () => {
    const foreign = foreignProvider();
    registerProvider(foreign);
    const first = await attach('express');
    const [pg, express] = [PG, EXPRESS].map((scope) => trace.getTracer(scope)) as [Tracer, Tracer];
    const start = (name: string): void => {
      for (const tracer of [pg, express])
        tracer.startSpan(`${name} ${tracer === pg ? 'pg' : 'express'}`).end();
      express.startActiveSpan(`${name} active`, (span) => span.end());
    };
    start('first');
    await first.shutdown();
    start('between');
    const second = await attach('pg');
    start('second');
    await second.shutdown();
    const third = await attach('pg', false);
    start('third');
    await third.shutdown();
    expect(names()).toEqual([
      ...['first express', 'first active'],
      ...['between pg', 'between express', 'between active'],
      ...['second pg'],
      ...['third pg', 'third express', 'third active'],
    ]);
  });

  it('whose tracers say nothing and which itself was put behind another has each span gated once', async () => {
    const foreign = foreignProvider();
    registerProvider(foreign);
    const first = await attach('pg');
    const proxy = trace.getTracerProvider() as ProxyTracerProvider;
    const gated = proxy.getDelegate();
    const theirs: TracerProvider = { getTracer: (...args) => gated.getTracer(...args) };
    proxy.setDelegate(theirs);
    await first.shutdown();
    await attach('pg');
    processState.spanCounts = new Map();
    trace.getTracer(PG).startSpan('query').end();
    trace.getTracer(EXPRESS).startSpan('off').end();
    expect(names()).toEqual(['query']);
    expect([...processState.spanCounts]).toEqual([['pg', { count: 1 }]]);
  });

  it('says so where the context manager cannot be changed', async () => {
    const manager: ContextManager = Object.freeze(new AsyncLocalStorageContextManager().enable());
    context.setGlobalContextManager(manager);
    trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [keeping] }));
    const warnings = captureWarnings();
    await attach('http_server,express');
    expect(warnings.single('INSTRUMENTATIONS_UNGATED').details).toEqual({
      spans: 'none',
      isOffSpanActive: true,
    });
    const off = trace.getTracer(PG).startSpan('query');
    context.with(trace.setSpan(context.active(), off), () =>
      trace.getTracer(EXPRESS).startSpan('handler').end(),
    );
    expect(names()).toEqual(['handler']);
  });

  it('that is registered nowhere leaves nothing to gate', async () => {
    const warnings = captureWarnings();
    await setUpForTest({ spanGroups: '' }, { mode: 'attach', instrumentationGroups: true });
    expect(warnings.codes()).toEqual(['NO_TRACER_PROVIDER']);
  });
});

describe('options', () => {
  const options = (given: unknown): SetupOptions => ({
    instrumentationGroups: given as InstrumentationGroupsOptions,
  });

  it('names rename, merge, and leave alone', async () => {
    await setUp('db,edge_server', {
      instrumentationGroups: {
        names: {
          'my-lib/tracing': 'my_lib',
          [PG]: 'db',
          '@opentelemetry/instrumentation-mysql2': 'db',
          [HTTP]: 'edge',
          [EXPRESS]: false,
        },
      },
    });
    for (const scope of [PG, '@opentelemetry/instrumentation-mysql2', 'my-lib/tracing', EXPRESS]) {
      trace.getTracer(scope).startSpan(scope).end();
    }
    for (const kind of [SpanKind.SERVER, SpanKind.CLIENT]) {
      trace.getTracer(HTTP).startSpan(SpanKind[kind], { kind }).end();
    }
    expect(names()).toEqual([PG, '@opentelemetry/instrumentation-mysql2', EXPRESS, 'SERVER']);
    const groups = [...SpanRegistry.groups()].filter((group) => group !== 'pg').sort();
    expect(groups).toEqual(['db', 'edge_client', 'edge_server', 'my_lib']);
    expect(SpanRegistry.presets().get('edge')).toEqual(new Set(['edge_client', 'edge_server']));
    expect(SpanRegistry.presets().get('databases')).toEqual(new Set(['db']));
  });

  it('a name is found by the scope, or by the name that the group would have', async () => {
    await setUp('postgres', {
      instrumentationGroups: { names: { '@prisma/instrumentation': 'orm', pg: 'postgres' } },
    });
    trace.getTracer(PG).startSpan('query').end();
    trace.getTracer('prisma').startSpan('off').end();
    expect(names()).toEqual(['query']);
    expect(SpanRegistry.groups()).toContain('orm');
  });

  it('presets replace those of their names; a bare name among the members stands for both directions', async () => {
    await setUp('default', {
      instrumentationGroups: { presets: { default: ['http', 'PG '], debugging: 'pg' } },
    });
    trace.getTracer(PG).startSpan('query').end();
    for (const kind of [SpanKind.SERVER, SpanKind.CLIENT]) {
      trace.getTracer(HTTP).startSpan(SpanKind[kind], { kind }).end();
    }
    expect(names()).toEqual(['query', 'SERVER', 'CLIENT']);
    expect(SpanRegistry.presets().get('per_request')).toEqual(new Set(['http_client', 'http_server']));
    expect(SpanRegistry.presets().get('debugging')).toEqual(new Set(['pg']));
  });

  it.each([
    ['a name that is none', { names: { [PG]: 'My Pool' } }, `.names['${PG}']`, 'my_pool'],
    ['an empty name', { names: { [PG]: ' - ' } }, `.names['${PG}']`, undefined],
    ['the name of the wildcard', { names: { [PG]: 'all' } }, `.names['${PG}']`, undefined],
    ['the name of a preset', { names: { [PG]: 'default' } }, `.names['${PG}']`, undefined],
    ['a name that is not a string', { names: { [PG]: 5 } }, `.names['${PG}']`, undefined],
    ['names that are no object', { names: null, presets: { a: 5 } }, ".presets['a']", undefined],
    ['a preset called all', { presets: { all: ['pg'] } }, ".presets['all']", undefined],
    ['members that are not strings', { presets: { default: [5] } }, ".presets['default']", undefined],
    ['an option of another type', 'yes', '', undefined],
  ])('%s is a warning, and telemetry starts', async (_what, given, option, used) => {
    const warnings = captureWarnings();
    await setUp('pg', { instrumentations: [pgInstrumentation()], ...options(given) });
    expect(warnings.single('INSTRUMENTATION_OPTION_INVALID').details).toMatchObject({
      option: `instrumentationGroups${option}`,
      used,
    });
    expect(warnings.all.every(({ message }) => message.length < 600)).toBe(true);
    trace.getTracer(PG).startSpan('query').end();
    expect(names()).toHaveLength(used === undefined ? 1 : 0);
  });

  it('a scope that looks misspelt is a warning with the nearest one', async () => {
    const warnings = captureWarnings();
    await setUp('all', {
      instrumentations: [pgInstrumentation()],
      instrumentationGroups: {
        names: { '@opentelemetry/instrumentation-pgg': 'db' },
        presets: { default: ['htpt_server'] },
      },
    });
    trace.getTracer(HTTP).startSpan('GET', { kind: SpanKind.SERVER }).end();
    expect(warnings.all.map(({ code, details }) => [code, details])).toEqual([
      [
        'INSTRUMENTATION_OPTION_UNMATCHED',
        {
          option: "instrumentationGroups.names['@opentelemetry/instrumentation-pgg']",
          name: '@opentelemetry/instrumentation-pgg',
          nearest: PG,
        },
      ],
      [
        'INSTRUMENTATION_OPTION_UNMATCHED',
        { option: "instrumentationGroups.presets['default']", name: 'htpt_server', nearest: 'http_server' },
      ],
    ]);
  });

  it('one that never comes is a warning at the end; a known one, which may come elsewhere, is none', async () => {
    const warnings = captureWarnings();
    const handle = await setUp('', {
      instrumentationGroups: {
        names: { 'nobody/knows': 'it', '@opentelemetry/instrumentation-mongodb': 'mongo' },
      },
    });
    expect(warnings.codes()).toEqual([]);
    await handle.shutdown();
    expect(warnings.single('INSTRUMENTATION_OPTION_UNMATCHED').details).toEqual({
      option: "instrumentationGroups.names['nobody/knows']",
      name: 'nobody/knows',
      nearest: undefined,
    });
  });
});

describe('nestlens.spans', () => {
  let reader: PeriodicExportingMetricReader;
  afterEach(() => reader.shutdown());

  it('counts the spans of instrumentations by their groups', async () => {
    reader = new PeriodicExportingMetricReader({
      exporter: new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE),
      exportIntervalMillis: 1_000_000,
    });
    await setUpForTest(
      { spanGroups: 'pg', metricsEnabled: true },
      { spanProcessors: [keeping], metricReader: reader, instrumentationGroups: true },
    );
    for (const scope of [PG, PG, EXPRESS]) trace.getTracer(scope).startSpan('span').end();
    const { resourceMetrics } = await reader.collect();
    const found = resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics);
    const pointsOf = (name: string): unknown[] =>
      found
        .filter(({ descriptor }) => descriptor.name === name)
        .flatMap(({ dataPoints }) =>
          dataPoints.map(({ attributes, value }) => [attributes['nestlens.group'], value]),
        );
    expect(pointsOf('nestlens.spans')).toEqual([['pg', 2]]);
    expect(pointsOf('nestlens.span_group.enabled')).toEqual(
      expect.arrayContaining([
        ['pg', 1],
        ['express', 0],
      ]),
    );
    expect(enabledSpanGroups()).toEqual(new Set(['pg']));
  });
});
