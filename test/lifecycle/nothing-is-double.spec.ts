import 'reflect-metadata';
import { describe, expect, it, jest } from '@jest/globals';
import { Injectable, Module, type OnApplicationBootstrap } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { metrics, type ProxyTracerProvider, trace } from '@opentelemetry/api';
import { managedSpan, NestLensModule } from 'nest-lens';
import { captureWarnings } from '../core/capture-warnings.js';
import { KeepingExporter } from '../core/keeping-exporter.js';
import { startReceiver } from './otlp-receiver.js';
import { startShop } from './shop-process.js';

jest.setTimeout(60_000);

interface Left {
  resources: string[];
  listeners: Record<string, number>;
}

interface Result {
  before: Left;
  after: Left;
  globals: { tracer: string; meter: string; context: boolean };
  spans: number;
  shutdowns: number;
  processWarnings: string[];
  lensWarnings: string[];
  namespaces: number;
  openSpans: number;
}

async function bootMany(total: number, atOnce: number): Promise<Result> {
  const receiver = await startReceiver();
  const apps = startShop({
    script: 'many-apps.mjs',
    scriptArguments: [String(total), String(atOnce)],
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, NEST_LENS_METRICS_ENABLED: 'yes' },
  });
  const [, result] = await apps.says(/RESULT (.*)\n/);
  expect(await apps.exited).toEqual({ code: 0, signal: null });
  return JSON.parse(result!) as Result;
}

function expectNothingLeft(result: Result): void {
  expect(result.after).toEqual(result.before);
  expect(result.globals).toEqual({ tracer: 'NoopTracerProvider', meter: 'NoopMeterProvider', context: true });
  expect([result.processWarnings, result.namespaces, result.openSpans]).toEqual([[], 0, 0]);
}

describe('applications in one process', () => {
  it('N2, H1: a hundred, one after another, each closed twice at once: each shuts its exporter down once, and nothing is left', async () => {
    const result = await bootMany(100, 1);
    expectNothingLeft(result);
    expect([result.spans, result.shutdowns, result.lensWarnings]).toEqual([100, 100, []]);
  });

  it('N2: three at once share one set-up, which the last close ends', async () => {
    const result = await bootMany(30, 3);
    expectNothingLeft(result);
    expect([result.spans, result.shutdowns]).toEqual([30, 10]);
    expect(result.lensWarnings).toEqual(['OPTIONS_IGNORED']);
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
    expect(exporter.calls.filter((call) => call === 'shutdown').length).toBeLessThanOrEqual(1);
    expectNothingRegistered();
  });
});

describe('copies of the package, as a test runner makes them', () => {
  it('H1, H10: follow one another without a trace, and one ends the open spans of another', async () => {
    const warnings = captureWarnings();
    for (let copy = 0; copy < 5; copy++) {
      jest.resetModules();
      const here = await import('nest-lens/core');
      jest.resetModules();
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
    }
    expect(warnings.codes()).toEqual([]);
  });
});
