import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Injectable, Module, type OnModuleInit, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { NestInstrumentation } from '@opentelemetry/instrumentation-nestjs-core';
import {
  isSpanGroupEnabled,
  managedSpan,
  NestLensModule,
  type NestLensModuleOptions,
  SpanGroup,
  SpanRegistryService,
  traceFn,
} from 'nest-lens';
import { processState } from '../../src/core/state/process-state.js';
import { captureWarnings } from '../support/capture-warnings.js';
import { setUpForTest } from '../support/live-telemetry.js';
import { guardEachTest, namesOf, RecordingExporter, setEnv } from '../support/lens-app.js';

let attributesRead = 0;
@Injectable()
class Worker {
  @SpanGroup('jobs', { attributes: () => ({ read: ++attributesRead }) })
  run(job: number): number {
    return job * 2;
  }

  @SpanGroup('quiet')
  poll(): string {
    return 'nothing';
  }
}
/** As BullMQ's workers do. */
@Injectable()
class Queue implements OnModuleInit {
  constructor(private readonly worker: Worker) {}
  onModuleInit(): void {
    for (const job of [1, 2, 3]) expect(this.worker.run(job)).toBe(job * 2);
    this.worker.poll();
  }
}

function appOf(exporter: RecordingExporter, options: NestLensModuleOptions = {}): Type {
  @Module({
    imports: [
      NestLensModule.forRoot({
        registrations: [{ namespace: 'shop', groups: ['jobs', 'quiet', 'plain'] }],
        config: { enabled: true, spanGroups: 'jobs,plain', metricsEnabled: false },
        telemetry: { spanExporter: exporter },
        ...options,
      }),
    ],
    providers: [Worker, Queue],
  })
  class AppModule {}
  return AppModule;
}

const create = (module: Type) => NestFactory.create(module, { logger: false, abortOnError: false });

// None on the console.
beforeEach(() => void captureWarnings());

describe('calls that come before the set-up', () => {
  guardEachTest();
  afterEach(() => void vi.useRealTimers());

  it('N1: are counted, and one warning names those whose group is on, and both cures', async () => {
    const warnings = captureWarnings();
    const exporter = new RecordingExporter();
    const plain = traceFn('plain', 'plain work')(() => 'done');
    const app = await create(appOf(exporter));
    expect([plain(), app.get(Worker).run(4)]).toEqual(['done', 8]);
    expect(managedSpan('plain', 'managed work', (span) => span)).toBeUndefined();
    expect(isSpanGroupEnabled('jobs')).toBe(false);
    await app.init();

    const { details, message } = warnings.single('CALLS_BEFORE_SETUP');
    const sites = ['Worker.run (4)', 'plain work (1)', 'managed work (1)'];
    expect(details).toEqual({ calls: 6, sites, isInitialised: true });
    expect(message).toContain("setupAt: 'init'");
    expect(message).toContain('await app.init() before startAllMicroservices()');
    expect(attributesRead).toBe(0);
    app.get(Worker).run(5);
    app.get(Worker).poll();
    await app.close();
    expect(namesOf(exporter.spans)).toEqual(['Worker.run']);
  });

  it("N1: have their spans with setupAt 'init', and nothing is said", async () => {
    const warnings = captureWarnings();
    const exporter = new RecordingExporter();
    const app = await create(appOf(exporter, { setupAt: 'init' }));
    await app.init();
    await app.close();
    expect(namesOf(exporter.spans)).toEqual(['Worker.run', 'Worker.run', 'Worker.run']);
    expect(warnings.codes()).not.toContain('CALLS_BEFORE_SETUP');
  });

  it('N1: are said while the application is never initialised, as one that only starts microservices', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'] });
    const warnings = captureWarnings();
    const app = await create(appOf(new RecordingExporter()));
    vi.advanceTimersByTime(20_000);
    expect(warnings.codes()).toEqual([]);
    app.get(Worker).run(1);
    vi.advanceTimersByTime(20_000);

    const { details, message } = warnings.single('CALLS_BEFORE_SETUP');
    expect(details).toEqual({ calls: 1, sites: ['Worker.run (1)'], isInitialised: false });
    expect(message).toContain('has not been initialised');
    expect(processState.gates.get('jobs')?.enabled).toBe(false);
    await app.close();
  });

  it.each<[string, NestLensModuleOptions]>([
    ['is disabled', { config: { enabled: false } }],
    ['is closed before it is initialised', {}],
  ])('N1, T4: are not counted any more when the application %s', async (what, options) => {
    const warnings = captureWarnings();
    const app = await create(appOf(new RecordingExporter(), options));
    if (!what.includes('before')) await app.init();
    await app.close();
    new Worker().run(1);
    expect(processState.missedCalls).toBe(undefined);
    expect([...processState.gates.values()].filter(({ enabled }) => enabled)).toEqual([]);
    expect(warnings.codes()).toEqual([]);
  });
});

describe('a module that is there only through forFeature', () => {
  guardEachTest();

  const featureApp = async (): Promise<string[]> => {
    const warnings = captureWarnings();
    @Module({
      imports: [
        NestLensModule.forFeature({ namespace: 'one', groups: ['one'] }),
        NestLensModule.forFeature({ namespace: 'two', groups: ['two'] }),
      ],
    })
    class AppModule {}
    const app = await create(AppModule);
    await app.init();
    expect(app.get(SpanRegistryService).namespaces()).toEqual(['one', 'two']);
    await app.close();
    return warnings.codes();
  };

  it('N1: is said once while the environment enables telemetry', async () => {
    setEnv({ NEST_LENS_ENABLED: 'true' });
    expect(await featureApp()).toEqual(['ROOT_MISSING']);
  });

  it('N1: is not said otherwise', async () => {
    expect(await featureApp()).toEqual([]);
  });
});

describe("OpenTelemetry's instrumentation of Nest beside NestLens", () => {
  guardEachTest();

  /** With the members that an SDK asks for. */
  const nestjsCore = (): any => ({
    instrumentationName: '@opentelemetry/instrumentation-nestjs-core',
    instrumentationVersion: '1.0.0',
    enable: () => undefined,
    disable: () => undefined,
    setTracerProvider: () => undefined,
    setMeterProvider: () => undefined,
    setConfig: () => undefined,
    getConfig: () => ({}),
  });
  /** As it is where it has got hold of Nest. */
  const patching = (): any => ({
    ...nestjsCore(),
    _modules: [{ name: '@nestjs/core', files: [{ name: 'nest-factory.js', moduleExports: {} }] }],
  });

  async function saidWith(instrumentation: any): Promise<string[]> {
    const warnings = captureWarnings();
    @Module({
      imports: [
        NestLensModule.forRoot({
          config: { enabled: true, metricsEnabled: false },
          telemetry: { spanExporter: new RecordingExporter(), instrumentations: [instrumentation] },
        }),
      ],
    })
    class AppModule {}
    const app = await create(AppModule);
    await app.init();
    await app.close();
    return warnings.all.filter(({ code }) => code === 'HANDLERS_TRACED_TWICE').map(({ message }) => message);
  }

  it.each([
    ['one that shows no patches', nestjsCore],
    ['one that has patched Nest', patching],
  ])('N5: %s is said with the variable that switches it off', async (_what, make) => {
    expect(await saidWith(make())).toEqual([
      expect.stringContaining('OTEL_NODE_DISABLED_INSTRUMENTATIONS=nestjs-core'),
    ]);
  });

  it('N5: the real one, which does not know Nest 12, patches nothing, and nothing is said', async () => {
    expect(await saidWith(new NestInstrumentation())).toEqual([]);
  });

  it('N5: is said, too, where the application joins a set-up of its own, and once', async () => {
    await setUpForTest();
    expect(await saidWith(patching())).toHaveLength(1);
    expect(await saidWith(patching())).toHaveLength(0);
  });
});
