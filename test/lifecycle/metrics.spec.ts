import { beforeEach, describe, expect, it, vi } from 'vitest';
import { metrics, trace } from '@opentelemetry/api';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base';
import {
  extractContext,
  managedSpan,
  overrideSpanGroups,
  signSpanGroups,
  SpanRegistry,
  traceFn,
  withSpan,
} from 'nest-lens/core';
import { captureWarnings, type CapturedWarnings } from '../support/capture-warnings.js';
import { KeepingExporter } from '../support/keeping-exporter.js';
import { setUpForTest } from '../support/live-telemetry.js';
import { startReceiver } from '../support/otlp-receiver.js';
import { removeTelemetryVariables } from '../support/telemetry-variables.js';

vi.setConfig({ testTimeout: 30_000 });

let warnings: CapturedWarnings;

beforeEach(() => {
  warnings = captureWarnings();
  SpanRegistry.register('shop', ['orders', 'cache']);
});

function readMetrics(): {
  metricReader: PeriodicExportingMetricReader;
  latest(): Record<string, Record<string, number>>;
} {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  return {
    metricReader: new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 }),
    latest() {
      const scopes = exporter.getMetrics().at(-1)?.scopeMetrics ?? [];
      const own = scopes.find(({ scope }) => scope.name === 'nest-lens')?.metrics ?? [];
      return Object.fromEntries(
        own.map(({ descriptor, dataPoints }) => [
          descriptor.name,
          Object.fromEntries(
            dataPoints.map(({ attributes, value }) => [
              attributes['nestlens.group'] ?? attributes['nestlens.outcome'],
              value as number,
            ]),
          ),
        ]),
      );
    },
  };
}

const spanCounts = (): unknown => (globalThis as any)[Symbol.for('nest-lens.state.1')].spanCounts;

describe('the metrics', () => {
  it('C2: say which groups are on, as it changes, and how many spans each has made', async () => {
    const { metricReader, latest } = readMetrics();
    await setUpForTest({ spanGroups: 'orders', metricsEnabled: true }, { metricReader });
    managedSpan('orders', 'a', () => undefined);
    traceFn('orders', 'b')(() => undefined)();
    managedSpan('cache', 'off', () => undefined);
    withSpan('in no group', () => undefined);
    await metricReader.forceFlush();
    expect(latest()).toEqual({
      'nestlens.span_group.enabled': { orders: 1, cache: 0 },
      'nestlens.spans': { orders: 2 },
    });

    overrideSpanGroups('cache');
    managedSpan('cache', 'on', () => undefined);
    await metricReader.forceFlush();
    expect(latest()).toEqual({
      'nestlens.span_group.enabled': { orders: 0, cache: 1 },
      'nestlens.spans': { orders: 2, cache: 1 },
    });
  });

  it('I1: count the requests that wanted groups turned on, to the last collection', async () => {
    const { metricReader, latest } = readMetrics();
    const requestOptIn = { key: 'k'.repeat(32) };
    const handle = await setUpForTest({ metricsEnabled: true }, { metricReader, requestOptIn });
    extractContext({ 'x-lens-groups': signSpanGroups('orders', requestOptIn) });
    extractContext({ 'x-lens-groups': 'orders' });
    extractContext({});
    await handle.shutdown();
    expect(latest()['nestlens.request_opt_ins']).toEqual({ accepted: 1, malformed: 1 });
  });

  it.each([
    ['own', () => undefined],
    ['attach', () => trace.setGlobalTracerProvider(new BasicTracerProvider())],
  ])(
    'H6: go to the meter provider of the application, to the last, and not after the shutdown (%s)',
    async (mode, prepare) => {
      const { metricReader, latest } = readMetrics();
      const provider = new MeterProvider({ readers: [metricReader] });
      metrics.setGlobalMeterProvider(provider);
      prepare();
      const handle = await setUpForTest({ metricsEnabled: true });
      expect(handle.mode).toBe(mode);
      managedSpan('orders', 'a', () => undefined);
      await handle.forceFlush();
      expect(latest()['nestlens.spans']).toEqual({ orders: 1 });
      managedSpan('orders', 'b', () => undefined);
      await handle.shutdown();
      expect([latest()['nestlens.spans'], spanCounts()]).toEqual([{ orders: 2 }, undefined]);
      // A cumulative reader keeps what it saw; nothing is added to it.
      SpanRegistry.register('later', ['late']);
      await metricReader.forceFlush();
      expect(Object.keys(latest()['nestlens.span_group.enabled'] ?? {})).not.toContain('late');
      await provider.shutdown();
    },
  );

  it.each([
    ['own', () => undefined],
    ['attach', () => trace.setGlobalTracerProvider(new BasicTracerProvider())],
  ])(
    'H6: are not in the meter provider of an application that gives only a span pipeline, so nothing waits for it (%s)',
    async (mode, prepare) => {
      removeTelemetryVariables();
      const provider = new MeterProvider();
      const flush = vi.spyOn(provider, 'forceFlush').mockReturnValue(new Promise(() => undefined));
      metrics.setGlobalMeterProvider(provider);
      prepare();
      const handle = await setUpForTest({ metricsEnabled: true }, { spanExporter: new KeepingExporter() });
      expect(handle.mode).toBe(mode);
      warnings.take();
      await handle.forceFlush();
      await handle.shutdown();
      expect([flush.mock.calls.length, warnings.take()]).toEqual([0, []]);
    },
  );

  it('C2: are not made, and spans not counted, while they are off', async () => {
    const { metricReader, latest } = readMetrics();
    await setUpForTest({ metricsEnabled: false }, { metricReader });
    managedSpan('orders', 'a', () => undefined);
    expect([spanCounts(), latest()]).toEqual([undefined, {}]);
  });

  it('H13: are exported once by a close, and once by each flush before it', async () => {
    const receiver = await startReceiver();
    removeTelemetryVariables();
    process.env.OTEL_EXPORTER_OTLP_ENDPOINT = receiver.url;
    process.env.OTEL_LOGS_EXPORTER = 'none';
    const exports = () => receiver.requests.filter((request) => request.includes('/v1/metrics')).length;
    const handle = await setUpForTest({ exporter: 'otlp', metricsEnabled: true });
    managedSpan('orders', 'a', () => undefined);
    await handle.forceFlush();
    expect(exports()).toBe(1);
    managedSpan('orders', 'b', () => undefined);
    await handle.shutdown();
    expect([exports(), receiver.names(), warnings.codes()]).toEqual([2, ['a', 'b'], []]);
    const last = receiver.metrics.findLast(({ name }) => name === 'nestlens.spans');
    expect(last?.points.map(({ value }) => value)).toEqual([2]);
  });

  it('H7: of an application that gives only a span exporter trouble no absent collector when it closes', async () => {
    removeTelemetryVariables();
    const exporter = new KeepingExporter();
    const handle = await setUpForTest({ exporter: 'otlp', metricsEnabled: true }, { spanExporter: exporter });
    managedSpan('orders', 'a', () => undefined);
    await handle.shutdown();
    expect([exporter.names, warnings.codes()]).toEqual([['a'], []]);
  });
});
