import { createRequire } from 'node:module';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { diag, type ProxyTracerProvider, trace, type TracerProvider } from '@opentelemetry/api';
import type { SpanProcessorLike } from 'nest-lens/core';
import { captureWarnings, type CapturedWarnings } from '../support/capture-warnings.js';
import { KeepingExporter } from '../support/keeping-exporter.js';
import { removeTelemetryVariables } from '../support/telemetry-variables.js';

/** The provider of the SDK, by the private fields that NestLens reads. */
interface Provider extends TracerProvider {
  _activeSpanProcessor: { _spanProcessors: unknown };
  forceFlush(): Promise<void>;
  shutdown(): Promise<void>;
}

/** What is done to an SDK that has just started, and what the packages that it is made of don't export. */
const doctor = { change: (_: Provider): void => undefined, hidden: new Set<string>() };

/** Exports what the package does, but for what is hidden at the moment. */
function doctored(real: object): object {
  const shown = Object.keys(real).map((name) => [
    name,
    { get: () => (doctor.hidden.has(name) ? undefined : Reflect.get(real, name)), enumerable: true },
  ]);
  return Object.defineProperties({}, Object.fromEntries(shown));
}
const require = createRequire(import.meta.url);

/** Whoever requires the package from now on gets what the doctor shows. Those that have required it keep what they have. */
function doctorPackage(name: string): void {
  const file = require.resolve(name);
  const real = require(file) as object;
  require.cache[file]!.exports = doctored(real);
}

// Before the packages that it is made of are doctored. As SDK 3.x, it doesn't hand them on.
const sdk = await import('@opentelemetry/sdk-node');
const { NodeSDK, startNodeSDK } = sdk;
vi.doMock('@opentelemetry/sdk-node', () => ({
  ...Object.fromEntries(Object.keys(sdk).map((name) => [name, undefined])),
  startNodeSDK,
  NodeSDK: class extends NodeSDK {
    constructor(...given: ConstructorParameters<typeof NodeSDK>) {
      // The SDK itself finds everything.
      doctor.hidden.clear();
      super(...given);
    }
    override start(): void {
      super.start();
      doctor.change((trace.getTracerProvider() as ProxyTracerProvider).getDelegate() as Provider);
    }
  },
}));
doctorPackage('@opentelemetry/sdk-trace');
doctorPackage('@opentelemetry/resources');
const { managedSpan, SpanRegistry } = await import('nest-lens/core');
const { setUpForTest } = await import('../support/live-telemetry.js');

vi.setConfig({ testTimeout: 30_000 });

let warnings: CapturedWarnings;

beforeEach(() => {
  removeTelemetryVariables();
  process.env.OTEL_LOGS_EXPORTER = 'none';
  SpanRegistry.register('shop', ['orders']);
  diag.disable();
  warnings = captureWarnings();
});

afterEach(() => {
  vi.restoreAllMocks();
  doctor.change = () => undefined;
  doctor.hidden.clear();
});

const shapes = () =>
  warnings.all.filter(({ code }) => code === 'SDK_UNKNOWN_SHAPE').map(({ details }) => details.part);

/** Puts something else in the place of each processor, which does the same and shows less. */
function hideProcessors(processors: unknown, rest: object = {}): void {
  const list = processors as SpanProcessorLike[];
  list.splice(
    0,
    list.length,
    ...list.map((processor) => ({
      onStart: processor.onStart.bind(processor),
      onEnd: processor.onEnd.bind(processor),
      forceFlush: processor.forceFlush.bind(processor),
      shutdown: processor.shutdown.bind(processor),
      ...rest,
    })),
  );
}

/** Puts something else in the place of the provider, which does the same and shows something else. */
function hideFields(provider: Provider, rest: object = {}): void {
  trace.disable();
  trace.setGlobalTracerProvider({
    getTracer: provider.getTracer.bind(provider),
    forceFlush: provider.forceFlush.bind(provider),
    shutdown: provider.shutdown.bind(provider),
    ...rest,
  } as TracerProvider);
}

describe('with an SDK that hands on nothing but NodeSDK', () => {
  it('H2: OTEL_LOG_LEVEL registers one logger a set-up, so that none complains of another', async () => {
    process.env.OTEL_LOG_LEVEL = 'error';
    const setLogger = vi.spyOn(diag, 'setLogger');
    for (let round = 1; round <= 2; round++) {
      const handle = await setUpForTest();
      expect(setLogger).toHaveBeenCalledTimes(round);
      await handle.shutdown();
    }
    expect(process.env.OTEL_LOG_LEVEL).toBe('error');
  });

  it('H7: an exporter and processors that are given all receive every span, and the resource is whole', async () => {
    const { spanExporter, spanProcessors, ended } = givenParts();
    const handle = await setUpForTest({ userId: 'ada' }, { spanExporter, spanProcessors });
    managedSpan('orders', 'place', () => undefined);
    await handle.shutdown();
    expect([spanExporter.names, ended]).toEqual([['place'], ['place']]);
    expect(spanExporter.spans[0]!.resource.attributes).toMatchObject({
      'telemetry.sdk.language': 'nodejs',
      'nestlens.user_id': 'ada',
    });
    expect(shapes()).toEqual([]);
  });
});

function givenParts() {
  const ended: string[] = [];
  const processor = {
    onStart: () => undefined,
    onEnd: ({ name }: { name: string }) => void ended.push(name),
    forceFlush: async () => undefined,
    shutdown: async () => undefined,
  };
  return { spanExporter: new KeepingExporter(), spanProcessors: [processor], ended };
}

describe('with an SDK whose', () => {
  it.each<[string, typeof doctor.change, string]>([
    ['provider has no _activeSpanProcessor', (provider) => hideFields(provider), 'processors'],
    [
      'list of processors is missing',
      (provider) => hideFields(provider, { _activeSpanProcessor: {} }),
      'processors',
    ],
    [
      'list of processors is a set',
      (provider) => hideFields(provider, { _activeSpanProcessor: { _spanProcessors: new Set() } }),
      'processors',
    ],
    [
      'list of processors is frozen',
      ({ _activeSpanProcessor: active }) => void Object.freeze(active._spanProcessors),
      'processors',
    ],
    [
      'processors have no _exporter',
      ({ _activeSpanProcessor: active }) => hideProcessors(active._spanProcessors),
      'exporter',
    ],
    [
      'processors have another thing as _exporter',
      ({ _activeSpanProcessor: active }) => hideProcessors(active._spanProcessors, { _exporter: 'otlp' }),
      'exporter',
    ],
  ])(
    'H7, H12: %s, a given exporter gets every span, and one warning says what does not work',
    async (_, change, part) => {
      doctor.change = change;
      const spanExporter = new KeepingExporter();
      const handle = await setUpForTest({}, { spanExporter });
      managedSpan('orders', 'place', () => undefined);
      await handle.shutdown();
      expect([spanExporter.names, shapes()]).toEqual([['place'], [part]]);
      expect(warnings.codes()).toEqual(['SDK_UNKNOWN_SHAPE']);
      expect(warnings.single('SDK_UNKNOWN_SHAPE').message).toMatch(/NestLens can't .*\. Install a version/);
    },
  );

  it.each<[string, () => void, string[]]>([
    ['provider shows no processors', () => void (doctor.change = (provider) => hideFields(provider)), []],
    ['batch processor is not found', () => void doctor.hidden.add('BatchSpanProcessor'), ['batch processor']],
  ])(
    'H7: %s, an exporter and processors that are given still receive every span',
    async (_, hide, expected) => {
      hide();
      const { spanExporter, spanProcessors, ended } = givenParts();
      const handle = await setUpForTest({}, { spanExporter, spanProcessors });
      managedSpan('orders', 'first', () => undefined);
      managedSpan('orders', 'second', () => undefined);
      await handle.shutdown();
      expect([spanExporter.names, ended]).toEqual([
        ['first', 'second'],
        ['first', 'second'],
      ]);
      expect(shapes()).toEqual(expected);
    },
  );

  it('C2, H12: default resource is not found, spans go without the run, and one warning says so', async () => {
    doctor.hidden.add('defaultResource');
    const spanExporter = new KeepingExporter();
    const handle = await setUpForTest({}, { spanExporter, resourceAttributes: { region: 'north' } });
    managedSpan('orders', 'place', () => undefined);
    await handle.shutdown();
    expect([spanExporter.names, shapes()]).toEqual([['place'], ['resource']]);
    expect(spanExporter.spans[0]!.resource.attributes).not.toHaveProperty('region');
  });

  it.each([
    ['have no list of modules', undefined],
    ['have a map of modules', new Map()],
  ])('H6, H12: instrumentations %s, they work, and one warning says what does not', async (_, modules) => {
    const { HttpInstrumentation } = await import('@opentelemetry/instrumentation-http');
    const instrumentation = new HttpInstrumentation({ enabled: false });
    const setTracerProvider = vi.spyOn(instrumentation, 'setTracerProvider');
    Object.assign(instrumentation, { enable: () => undefined, _modules: modules });
    await (await setUpForTest({}, { instrumentations: [instrumentation] })).shutdown();
    expect(setTracerProvider).toHaveBeenCalledTimes(1);
    expect(shapes()).toEqual(['modules']);
  });
});
