import { expect } from 'vitest';
import { diag, DiagLogLevel } from '@opentelemetry/api';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { managedSpan, SpanRegistry } from 'nest-lens/core';
import { captureWarnings } from '../support/capture-warnings.js';
import { KeepingExporter } from '../support/keeping-exporter.js';
import { setUpForTest } from '../support/live-telemetry.js';
import { type Scenario } from './scenario.js';
import { emit } from './scenario-emission.js';
import { setEnvironment } from './scenario-environment.js';
import { emitWithFile } from './variable-scenarios.js';
import { interceptPrintedSpans } from '../support/printed-spans.js';

function sentence(behaviour: string, run: () => Promise<void>): Scenario {
  return { behaviour, cells: [], run };
}

/** What the SDK says of itself. */
function listenToSdk(): string[] {
  const said: string[] = [];
  const say = (...parts: unknown[]): void => void said.push(parts.map(String).join(' '));
  diag.setLogger(
    { error: say, warn: say, info: say, debug: say, verbose: say },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  return said;
}

/** What is said outside of the tables -> that it is so. */
export const sentenceScenarios: Readonly<Record<string, Scenario>> = {
  "The SDK reads these variables; NestLens doesn't check their values.": sentence('H11', async () => {
    const said = listenToSdk();
    const { warnings, receiver } = await emit({
      OTEL_TRACES_SAMPLER: 'nonsense',
      OTEL_BSP_MAX_QUEUE_SIZE: 'many',
      OTEL_PROPAGATORS: 'carrier-pigeon',
    });
    expect(said.join('\n')).toMatch(/nonsense[^]*carrier-pigeon|carrier-pigeon[^]*nonsense/);
    expect([warnings, receiver.names()]).toEqual([[], ['inner', 'outer', 'probe']]);
  }),

  'An option wins over its variable only if it is given, in code or as a variable of NestLens (`NEST_LENS_EXPORTER`).':
    sentence('H11, C5', async () => {
      const variables = { OTEL_SERVICE_NAME: 'variable', OTEL_RESOURCE_ATTRIBUTES: 'region=eu' };
      const left = await emit(variables, {
        config: { serviceName: undefined as never },
        options: {
          spanExporter: undefined,
          spanProcessors: undefined,
          resourceAttributes: undefined,
        },
      });
      expect(left.span('outer').resource).toMatchObject({ 'service.name': 'variable', region: 'eu' });
      const { receiver } = await emit({ ...variables, NEST_LENS_EXPORTER: 'none' });
      expect(receiver.requests).toEqual([]);
    }),

  "`exporter: 'otlp'` doesn't count as an option that is given: these variables choose the exporter.":
    sentence('H11', async () => {
      const config = { exporter: 'otlp' } as const;
      const none = await emit({ OTEL_TRACES_EXPORTER: 'none' }, { config });
      expect([none.receiver.requests, none.isExporting]).toEqual([[], false]);
      expect((await emit({}, { config })).receiver.names()).toContain('outer');
    }),

  "If an option wins over `OTEL_CONFIG_FILE`, the SDK doesn't read the file.": sentence('H11', async () => {
    const said = listenToSdk();
    const exporter = new KeepingExporter();
    const { warnings, isExporting } = await emit(
      { OTEL_CONFIG_FILE: '/nowhere/otel.yaml' },
      { options: { spanExporter: exporter } },
    );
    expect([warnings, said, isExporting]).toEqual([[], [], true]);
    expect(exporter.names).toContain('outer');
  }),

  "If the file is in force, it also sets the resource: `serviceName`, `resourceAttributes` and the run's id aren't added.":
    sentence('H11', async () => {
      const { span } = await emitWithFile({
        config: { serviceName: 'option', runId: 'run-1' },
        options: { resourceAttributes: { region: 'eu' } },
      });
      const { resource } = span('outer');
      expect(resource['service.name']).toBe('from-the-file');
      for (const name of ['region', 'nestlens.run_id']) expect(resource).not.toHaveProperty([name]);
    }),

  'If metrics are enabled and there is a meter provider, NestLens has two metrics: `nestlens.span_group.enabled` (1 or 0) and `nestlens.spans`, both by `nestlens.group`.':
    sentence('C2', async () => {
      setEnvironment({ OTEL_LOGS_EXPORTER: 'none' });
      captureWarnings();
      SpanRegistry.register('shop', ['orders', 'cache']);
      const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
      const metricReader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
      await setUpForTest({ spanGroups: 'orders', metricsEnabled: true }, { metricReader });
      for (let i = 0; i < 3; i++) managedSpan('orders', 'on', () => undefined);
      managedSpan('cache', 'off', () => undefined);
      await metricReader.forceFlush();
      const [scope, ...others] = exporter.getMetrics().at(-1)!.scopeMetrics;
      const points = scope!.metrics.map(({ descriptor, dataPoints }) => [
        descriptor.name,
        Object.fromEntries(dataPoints.map(({ attributes, value }) => [attributes['nestlens.group'], value])),
      ]);
      expect([Object.fromEntries(points), others]).toEqual([
        { 'nestlens.span_group.enabled': { orders: 1, cache: 0 }, 'nestlens.spans': { orders: 3 } },
        [],
      ]);
    }),

  "An application has neither if it gives only span exporters or processors in code and doesn't say where metrics go.":
    sentence('H7', async () => {
      const config = { metricsEnabled: true };
      const options = { spanExporter: new KeepingExporter() };
      const { receiver } = await emit(
        { OTEL_EXPORTER_OTLP_ENDPOINT: '', OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'COLLECTOR' },
        { config, options },
      );
      expect(receiver.metrics).toEqual([]);
      const named = await emit(
        { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'COLLECTOR/v1/metrics' },
        { config, options },
      );
      expect(named.receiver.metrics.map(({ name }) => name)).toContain('nestlens.spans');
    }),

  '`exporter` `console` and `none` are about spans: with them there is a meter provider only if `OTEL_METRICS_EXPORTER` asks for one.':
    sentence('C2, H11', async () => {
      const printed = interceptPrintedSpans();
      try {
        for (const exporter of ['console', 'none'] as const) {
          const config = { metricsEnabled: true, exporter };
          const asked = await emit({ OTEL_METRICS_EXPORTER: 'otlp' }, { config });
          expect(asked.receiver.metrics.map(({ name }) => name)).toContain('nestlens.spans');
          expect(asked.receiver.spans).toEqual([]);
          expect((await emit({}, { config })).receiver.requests).toEqual([]);
        }
      } finally {
        printed.restore();
      }
    }),
};
