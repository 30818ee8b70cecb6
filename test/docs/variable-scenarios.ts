import { interceptPrintedSpans } from '../support/printed-spans.js';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import http from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, vi } from 'vitest';
import { afterEachTest } from '../support/after-each-test.js';
import { diag } from '@opentelemetry/api';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { KeepingExporter } from '../support/keeping-exporter.js';
import { folderWith } from '../support/folder-with.js';
import { type OtlpReceiver, startGrpcReceiver, startReceiver } from '../support/otlp-receiver.js';
import { startShop } from '../support/shop-process.js';
import { until } from '../support/lens-app.js';
import { type Scenario, variableScenario } from './scenario.js';
import { noteVariables } from './scenario-environment.js';
import { emit, type Emission, type Emitted } from './scenario-emission.js';

const require = createRequire(import.meta.url);

/** The kinds of spans, as they are sent. */
const [OTLP_SERVER, OTLP_CLIENT] = [2, 3];

const isSilent = ({ warnings }: Emitted): void => expect(warnings).toEqual([]);

/** Nothing has come to the place that the variables name. */
function isElsewhere(emitted: Emitted): void {
  expect(emitted.receiver.requests).toEqual([]);
  isSilent(emitted);
}

/** Options that take spans, each with a way to look at what they took. */
function spanTakers(): { exporter: KeepingExporter; options: NonNullable<Emission['options']> }[] {
  const [exporter, processed] = [new KeepingExporter(), new KeepingExporter()];
  return [
    { exporter, options: { spanExporter: exporter } },
    { exporter: processed, options: { spanProcessors: [new SimpleSpanProcessor(processed)] } },
  ];
}

async function takesTheSpans(variables: Record<string, string>, at: number): Promise<void> {
  const { exporter, options } = spanTakers()[at]!;
  isElsewhere(await emit(variables, { options }));
  expect(exporter.names).toEqual(['inner', 'outer', 'probe']);
}

function memoryReader(): {
  metricReader: PeriodicExportingMetricReader;
  /** Of the metrics that came, also after the shutdown, by which the SDK's exporter forgets them. */
  names(): string[];
  /** How many times some came. */
  exports(): number;
} {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const take = vi.spyOn(exporter, 'export');
  return {
    metricReader: new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 }),
    names: () => {
      const scopes = take.mock.calls.flatMap(([{ scopeMetrics }]) => scopeMetrics);
      const names = scopes.flatMap(({ metrics }) => metrics.map(({ descriptor }) => descriptor.name));
      return [...new Set(names)].sort();
    },
    exports: () => take.mock.calls.length,
  };
}

const OUR_METRICS = ['nestlens.span_group.enabled', 'nestlens.spans'];
const metricNames = ({ receiver }: Emitted): string[] =>
  [...new Set(receiver.metrics.map(({ name }) => name))].sort();

/** The spans that exporter `console` prints, or what the SDK's own writes with `console.dir`; nothing of it is printed. */
async function written(
  method: 'stdout' | 'dir',
  variables: Record<string, string>,
  emission?: Emission,
): Promise<string[]> {
  if (method === 'stdout') {
    const printed = interceptPrintedSpans();
    try {
      await emit(variables, emission);
      return printed.lines();
    } finally {
      printed.restore();
    }
  }
  const write = vi.spyOn(console, method).mockReturnValue();
  try {
    await emit(variables, emission);
    return write.mock.calls.map(([first]) => (typeof first === 'string' ? first : JSON.stringify(first)));
  } finally {
    write.mockRestore();
  }
}

/** What a process writes that sets up and shuts down at each of these levels. The SDK keeps the console for itself early. */
async function outputsWithLogLevels(...levels: string[]): Promise<string[]> {
  const env = { OTEL_LOG_LEVEL: levels[0]! };
  noteVariables(env);
  const script = folderWith({
    'main.mjs': `
      import { managedSpan, nestLensConfigFromEnv, setupTelemetry, SpanRegistry } from 'nest-lens/core';
      SpanRegistry.register('shop', ['orders'], { default: ['orders'] });
      for (const level of ${JSON.stringify(levels)}) {
        process.env.OTEL_LOG_LEVEL = level;
        const handle = await setupTelemetry(nestLensConfigFromEnv());
        managedSpan('orders', 'only work', () => undefined);
        await handle.shutdown();
        console.log('(next level)');
      }`,
  });
  const started = startShop({ script: `${script}/main.mjs`, env: { ...env, NEST_LENS_EXPORTER: 'none' } });
  expect(await started.exited).toEqual({ code: 0, signal: null });
  return started.output.split('(next level)\n').slice(0, levels.length);
}

/** Whether a process that is started early has spans of its server, and of its client, with these variables. */
async function tracedWith(variables: Record<string, string>): Promise<{ server: boolean; client: boolean }> {
  noteVariables(variables);
  const receiver = await startReceiver();
  const script = folderWith({
    'main.mjs': `
      import { createServer } from 'node:http';
      import { trace } from '@opentelemetry/api';
      const server = createServer((_, response) => response.end()).listen(0, '127.0.0.1', async () => {
        await (await fetch('http://127.0.0.1:' + server.address().port)).text();
        trace.getTracer('by hand').startSpan('by hand').end();
        server.close().closeAllConnections();
      });`,
  });
  const started = startShop({
    nodeArguments: ['--import', 'nest-lens/register'],
    script: `${script}/main.mjs`,
    env: {
      OTEL_NODE_ENABLED_INSTRUMENTATIONS: undefined,
      ...variables,
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    },
  });
  await started.exited;
  expect([receiver.names().includes('by hand'), started.warnings()]).toEqual([true, []]);
  const isTraced = (wanted: number, library: string): boolean =>
    receiver.spans.some(
      ({ kind, scope }) => kind === wanted && scope.name === `@opentelemetry/instrumentation-${library}`,
    );
  return { server: isTraced(OTLP_SERVER, 'http'), client: isTraced(OTLP_CLIENT, 'undici') };
}

/** Writes a log record, as an instrumentation of a logger does, and sees where it is sent. */
async function logRequests(variables: Record<string, string>, emission: Emission = {}): Promise<string[]> {
  const paths: string[] = [];
  const collector = http.createServer((request, response) => {
    paths.push(request.url!);
    request.resume().on('end', () => response.end());
  });
  await once(collector.listen(0, '127.0.0.1'), 'listening');
  const { port } = collector.address() as AddressInfo;
  const where = { OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: `http://127.0.0.1:${port}/v1/logs` };
  // The copy that the SDK has.
  const { logs } = createRequire(require.resolve('@opentelemetry/sdk-node'))('@opentelemetry/api-logs');
  logs.disable(); // Of a test before.
  const before = (): void => logs.getLogger('x').emit({ body: 'out of anvils' });
  await emit({ ...where, ...variables }, { ...emission, before });
  collector.closeAllConnections();
  await promisify(collector.close.bind(collector))();
  return paths;
}

const folders: string[] = [];
afterEachTest(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** `OTEL_CONFIG_FILE`, with a file that says where spans go. */
function configFile(receiver: OtlpReceiver): Record<string, string> {
  const folder = mkdtempSync(join(tmpdir(), 'nest-lens-config-'));
  folders.push(folder);
  const file = join(folder, 'otel.yaml');
  writeFileSync(
    file,
    `file_format: "1.0"
log_level: error
resource:
  attributes:
    - name: service.name
      value: from-the-file
tracer_provider:
  processors:
    - batch:
        exporter:
          otlp_http:
            endpoint: ${receiver.url}/by-file
            encoding: json
meter_provider:
  readers:
    - periodic:
        exporter:
          otlp_http:
            endpoint: ${receiver.url}/by-file/v1/metrics
            encoding: json
`,
  );
  return { OTEL_CONFIG_FILE: file };
}

/** With such a file. What comes by the file comes as JSON. */
export async function emitWithFile(
  emission: Emission = {},
  variables: Record<string, string> = { OTEL_EXPORTER_OTLP_ENDPOINT: '' },
): Promise<Emitted> {
  const receiver = await startReceiver();
  // The SDK sets its own logger then, and would say that it replaces another one.
  diag.disable();
  return emit({ ...configFile(receiver), ...variables }, { ...emission, receiver });
}

const serviceName = (emitted: Emitted): unknown => emitted.span('outer').resource['service.name'];

/** Room for far less than the 40 spans that are made beside it. */
const queue = { OTEL_BSP_MAX_QUEUE_SIZE: '4', OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '4' };

/** Variable -> that it is in force, and what wins over it. */
export const variableScenarios: Readonly<Record<string, Scenario>> = {
  '`OTEL_SDK_DISABLED`': variableScenario(
    'H11',
    async () => {
      const { receiver, isExporting, isRecording } = await emit({ OTEL_SDK_DISABLED: 'true' });
      expect([receiver.requests, isExporting, isRecording]).toEqual([[], false, false]);
    },
    {
      none: async () => {
        for (const { exporter, options } of spanTakers()) {
          const emitted = await emit(
            { OTEL_SDK_DISABLED: 'true' },
            { config: { enabled: true, exporter: 'console' }, options: { ...options, mode: 'own' } },
          );
          expect([emitted.isExporting, emitted.isRecording, exporter.calls]).toEqual([false, false, []]);
        }
      },
    },
  ),

  '`OTEL_TRACES_EXPORTER`': variableScenario(
    'H11',
    async () => {
      isElsewhere(await emit({ OTEL_TRACES_EXPORTER: 'none' }));
      expect((await emit({ OTEL_TRACES_EXPORTER: 'otlp' })).span('outer').attributes).toEqual({
        'nestlens.group': 'orders',
      });
      expect(await written('dir', { OTEL_TRACES_EXPORTER: 'console' })).toHaveLength(3);
    },
    {
      '`exporter` (`console`, `none`)': async () => {
        const emitted = await emit({ OTEL_TRACES_EXPORTER: 'otlp' }, { config: { exporter: 'none' } });
        isElsewhere(emitted);
        expect([emitted.isExporting, emitted.isRecording]).toEqual([false, true]);
        const console = { config: { exporter: 'console' } } as const;
        expect(await written('stdout', { OTEL_TRACES_EXPORTER: 'none' }, console)).toHaveLength(3);
        // This one leaves the choice to the variable.
        isElsewhere(await emit({ OTEL_TRACES_EXPORTER: 'none' }, { config: { exporter: 'otlp' } }));
      },
      '`spanExporter`': () => takesTheSpans({ OTEL_TRACES_EXPORTER: 'otlp' }, 0),
      '`spanProcessors`': () => takesTheSpans({ OTEL_TRACES_EXPORTER: 'otlp' }, 1),
      '`tracesEnabled: false`': async () => {
        const emitted = await emit({ OTEL_TRACES_EXPORTER: 'otlp' }, { config: { tracesEnabled: false } });
        isElsewhere(emitted);
        expect(emitted.isRecording).toBe(false);
      },
    },
  ),

  '`OTEL_EXPORTER_OTLP_*` (http/protobuf, http/json, grpc)': variableScenario(
    'H11',
    async () => {
      const { receiver } = await emit({ OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=anvils' });
      expect(receiver.requests).toEqual(['POST /v1/traces application/x-protobuf']);
      expect(receiver.received[0]!.headers['x-tenant']).toBe('anvils');
      const json = await emit({
        OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
        OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'COLLECTOR/elsewhere',
        OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
      });
      expect(json.receiver.requests).toEqual(['POST /elsewhere application/json']);
      expect(json.receiver.received[0]!.headers['content-encoding']).toBe('gzip');
      const byGrpc = await startGrpcReceiver();
      await emit({ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, { receiver: byGrpc });
      for (const { spans } of [receiver, json.receiver, byGrpc]) {
        expect(spans.map(({ name }) => name)).toEqual(['inner', 'outer', 'probe']);
      }
      const hanging = await startReceiver();
      hanging.misbehaves = 'never answers';
      const began = performance.now();
      const { warnings } = await emit({ OTEL_EXPORTER_OTLP_TIMEOUT: '50' }, { receiver: hanging });
      expect(performance.now() - began).toBeLessThan(4_000);
      expect(warnings).toEqual(['FLUSH_INCOMPLETE']);
    },
    {
      '`exporter` (`console`, `none`)': async () =>
        isElsewhere(await emit({}, { config: { exporter: 'none' } })),
      '`spanExporter`': () => takesTheSpans({}, 0),
      '`spanProcessors`': () => takesTheSpans({}, 1),
      '`tracesEnabled: false`': async () => isElsewhere(await emit({}, { config: { tracesEnabled: false } })),
    },
  ),

  '`OTEL_METRICS_EXPORTER`': variableScenario(
    'H11, C2',
    async () => {
      const config = { metricsEnabled: true };
      expect(metricNames(await emit({ OTEL_METRICS_EXPORTER: 'none' }, { config }))).toEqual([]);
      expect(metricNames(await emit({ OTEL_METRICS_EXPORTER: 'otlp' }, { config }))).toEqual(OUR_METRICS);
    },
    {
      '`metricsEnabled: false`': async () => {
        const emitted = await emit({ OTEL_METRICS_EXPORTER: 'otlp' }, { config: { metricsEnabled: false } });
        expect(metricNames(emitted)).toEqual([]);
      },
      '`metricReader`': async () => {
        for (const value of ['otlp', 'none']) {
          const { metricReader, names } = memoryReader();
          const emitted = await emit(
            { OTEL_METRICS_EXPORTER: value },
            { config: { metricsEnabled: true }, options: { metricReader } },
          );
          expect([metricNames(emitted), names()]).toEqual([[], OUR_METRICS]);
        }
      },
    },
  ),

  '`OTEL_METRIC_EXPORT_*`': variableScenario(
    'H11',
    async () => {
      const before = ({ receiver }: Emitted): Promise<boolean> => until(() => receiver.metrics.length > 0);
      const { receiver } = await emit(
        { OTEL_METRIC_EXPORT_INTERVAL: '30', OTEL_METRIC_EXPORT_TIMEOUT: '20' },
        {
          config: { metricsEnabled: true },
          before: async (emitted) => expect(await before(emitted)).toBe(true),
        },
      );
      expect(receiver.metrics.length).toBeGreaterThan(0);
    },
    {
      '`metricReader`': async () => {
        const { metricReader, names, exports } = memoryReader();
        await emit(
          { OTEL_METRIC_EXPORT_INTERVAL: '1', OTEL_METRIC_EXPORT_TIMEOUT: '1' },
          {
            config: { metricsEnabled: true },
            options: { metricReader },
            // That nothing comes can only be waited for; it would come thirty times.
            before: () => new Promise((resolve) => setTimeout(resolve, 30)),
          },
        );
        // By the shutdown: a flush, and the end.
        expect(exports()).toBeLessThan(4);
        expect(names()).toEqual(OUR_METRICS);
      },
    },
  ),

  '`OTEL_LOGS_EXPORTER`': variableScenario(
    'H11',
    async () => {
      expect(await logRequests({ OTEL_LOGS_EXPORTER: 'otlp' })).toEqual(['/v1/logs']);
      expect(await logRequests({ OTEL_LOGS_EXPORTER: 'none' })).toEqual([]);
    },
    {
      none: async () =>
        expect(
          await logRequests(
            { OTEL_LOGS_EXPORTER: 'otlp' },
            { config: { exporter: 'none', tracesEnabled: false, metricsEnabled: false } },
          ),
        ).toEqual(['/v1/logs']),
    },
  ),

  '`OTEL_TRACES_SAMPLER`, `OTEL_TRACES_SAMPLER_ARG`': variableScenario(
    'H11',
    async () => {
      const off = await emit({ OTEL_TRACES_SAMPLER: 'always_off' });
      isElsewhere(off);
      expect(off.carrier['traceparent']).toMatch(/-00$/);
      isElsewhere(await emit({ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' }));
    },
    {
      none: async () => {
        for (const { exporter, options } of spanTakers()) {
          const { carrier } = await emit({ OTEL_TRACES_SAMPLER: 'always_off' }, { options });
          expect(carrier['traceparent']).toMatch(/-00$/);
          expect(exporter.names).toEqual([]);
        }
      },
    },
  ),

  '`OTEL_PROPAGATORS`': variableScenario(
    'H11',
    async () => {
      expect(Object.keys((await emit()).carrier)).toEqual(['traceparent']);
      expect(Object.keys((await emit({ OTEL_PROPAGATORS: 'b3' })).carrier)).toEqual(['b3']);
    },
    {
      none: async () => {
        const { options } = spanTakers()[0]!;
        const { carrier } = await emit({ OTEL_PROPAGATORS: 'b3' }, { config: { exporter: 'none' }, options });
        expect(Object.keys(carrier)).toEqual(['b3']);
      },
    },
  ),

  '`OTEL_SERVICE_NAME`': variableScenario(
    'H11',
    async () => expect(serviceName(await emit({ OTEL_SERVICE_NAME: 'variable' }))).toBe('variable'),
    {
      '`serviceName`': async () =>
        expect(
          serviceName(await emit({ OTEL_SERVICE_NAME: 'variable' }, { config: { serviceName: 'option' } })),
        ).toBe('option'),
      '`resourceAttributes`': async () => {
        const options = { resourceAttributes: { 'service.name': 'option' } };
        expect(serviceName(await emit({ OTEL_SERVICE_NAME: 'variable' }, { options }))).toBe('option');
      },
    },
  ),

  '`OTEL_RESOURCE_ATTRIBUTES`': variableScenario(
    'H11',
    async () => {
      const emitted = await emit({ OTEL_RESOURCE_ATTRIBUTES: 'service.name=variable,region=eu' });
      expect(emitted.span('outer').resource).toMatchObject({ 'service.name': 'variable', region: 'eu' });
    },
    {
      '`resourceAttributes`': async () => {
        const emitted = await emit(
          { OTEL_RESOURCE_ATTRIBUTES: 'region=eu,zone=1' },
          { options: { resourceAttributes: { region: 'us' } } },
        );
        expect(emitted.span('outer').resource).toMatchObject({ region: 'us', zone: '1' });
      },
      '`serviceName`': async () => {
        const emitted = await emit(
          { OTEL_RESOURCE_ATTRIBUTES: 'service.name=variable' },
          { config: { serviceName: 'option' } },
        );
        expect(serviceName(emitted)).toBe('option');
      },
    },
  ),

  '`OTEL_NODE_RESOURCE_DETECTORS`': variableScenario(
    'H11',
    async () => {
      const resourceWith = async (detectors: string): Promise<Record<string, unknown>> =>
        (await emit({ OTEL_NODE_RESOURCE_DETECTORS: detectors })).span('outer').resource;
      expect(await resourceWith('none')).not.toHaveProperty(['process.pid']);
      expect(await resourceWith('process')).toHaveProperty(['process.pid']);
    },
    {
      none: async () => {
        const emitted = await emit(
          { OTEL_NODE_RESOURCE_DETECTORS: 'none' },
          { config: { serviceName: 'option' }, options: { resourceAttributes: { region: 'eu' } } },
        );
        expect(emitted.span('outer').resource).not.toHaveProperty(['process.pid']);
      },
    },
  ),

  '`OTEL_NODE_*_INSTRUMENTATIONS` (`nest-lens/register`)': variableScenario(
    'H11',
    async () => {
      const [enabled, disabled, both] = await Promise.all([
        tracedWith({ OTEL_NODE_ENABLED_INSTRUMENTATIONS: 'pg, http' }),
        tracedWith({ OTEL_NODE_DISABLED_INSTRUMENTATIONS: 'http' }),
        tracedWith({
          OTEL_NODE_ENABLED_INSTRUMENTATIONS: 'http,undici',
          OTEL_NODE_DISABLED_INSTRUMENTATIONS: 'pg,http',
        }),
      ]);
      expect(enabled).toEqual({ server: true, client: false });
      for (const traced of [disabled, both]) expect(traced).toEqual({ server: false, client: true });
    },
    {
      '`instrumentations`': async () => {
        const enable = vi.fn();
        const instrumentation = {
          instrumentationName: '@opentelemetry/instrumentation-http',
          enable,
          disable: () => undefined,
          setTracerProvider: () => undefined,
          setMeterProvider: () => undefined,
          getConfig: () => ({}),
        };
        await emit(
          { OTEL_NODE_DISABLED_INSTRUMENTATIONS: 'http' },
          { options: { instrumentations: [instrumentation] } },
        );
        expect(enable).toHaveBeenCalledTimes(1);
      },
    },
  ),

  '`OTEL_BSP_*`': variableScenario(
    'H11',
    async () => {
      const small = await emit({ OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '1' });
      expect(small.receiver.requests).toHaveLength(3);
      const full = await emit({ ...queue, OTEL_BSP_SCHEDULE_DELAY: '60000' }, { count: 20 });
      expect(full.receiver.spans.length).toBeLessThan(12);
      const soon = async ({ receiver }: Emitted): Promise<void> =>
        expect(await until(() => receiver.names().includes('outer'))).toBe(true);
      await emit({ OTEL_BSP_SCHEDULE_DELAY: '20' }, { before: soon });
      let sent = 0;
      const silent = Object.assign(new KeepingExporter(), { export: () => void sent++ });
      // Each batch has failed after that time, and the next one is sent.
      await emit(
        { OTEL_BSP_EXPORT_TIMEOUT: '20', OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '1' },
        {
          options: { spanExporter: silent },
          before: async ({ handle }) => {
            expect(await until(() => sent === 2)).toBe(true);
            await handle.shutdown(50);
          },
        },
      );
      // They are for the batch processor in front of a given exporter, too.
      const exporter = new KeepingExporter();
      await emit({ OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '1' }, { options: { spanExporter: exporter } });
      expect(exporter.calls.filter((call) => call === 'export')).toHaveLength(3);
    },
    {
      '`spanProcessors`': async () => {
        const { exporter, options } = spanTakers()[1]!;
        await emit(queue, { options, count: 20 });
        expect(exporter.names).toHaveLength(41);
      },
      '`exporter` (`console`, `none`)': async () => {
        expect(await written('stdout', queue, { config: { exporter: 'console' }, count: 20 })).toHaveLength(
          41,
        );
        isElsewhere(await emit(queue, { config: { exporter: 'none' } }));
      },
    },
  ),

  '`OTEL_SPAN_*_LIMIT`, `OTEL_ATTRIBUTE_*_LIMIT`': variableScenario(
    'H11',
    async () => {
      const limited = await emit({
        OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT: '2',
        OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT: '5',
        OTEL_SPAN_EVENT_COUNT_LIMIT: '1',
        OTEL_SPAN_LINK_COUNT_LIMIT: '1',
      });
      const { attributes, events, links } = limited.span('inner');
      expect([Object.keys(attributes).length, events.length, links.length]).toEqual([2, 1, 1]);
      expect(Object.values(attributes).every((value) => String(value).length <= 5)).toBe(true);
      const general = await emit({
        OTEL_ATTRIBUTE_COUNT_LIMIT: '1',
        OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT: '3',
        OTEL_SPAN_EVENT_COUNT_LIMIT: '2',
      });
      expect(Object.keys(general.span('inner').attributes)).toHaveLength(1);
    },
    {
      none: async () => {
        for (const { exporter, options } of spanTakers()) {
          await emit({ OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT: '1' }, { options });
          expect(Object.keys(exporter.spans[0]!.attributes)).toHaveLength(1);
        }
      },
    },
  ),

  '`OTEL_LOG_LEVEL`': variableScenario(
    'H11',
    async () => {
      const said = expect.stringContaining('@opentelemetry/api') as unknown;
      expect(await outputsWithLogLevels('debug', 'error', 'debug')).toEqual([said, '', said]);
    },
    // There is none for it.
    { none: () => Promise.resolve() },
  ),

  '`OTEL_CONFIG_FILE`': variableScenario(
    'H11',
    async () => {
      const emitted = await emitWithFile();
      expect(emitted.receiver.requests).toEqual(['POST /by-file application/json']);
      expect([serviceName(emitted), emitted.isExporting]).toEqual(['from-the-file', true]);
      isSilent(emitted);
      // The probe is open at the shutdown.
      expect(emitted.span('probe').attributes).toEqual({ 'nestlens.truncated': true });
    },
    {
      '`exporter` (`console`, `none`)': async () =>
        isElsewhere(await emitWithFile({ config: { exporter: 'none' } })),
      '`spanExporter`': async () => isElsewhere(await emitWithFile({ options: spanTakers()[0]!.options })),
      '`spanProcessors`': async () => isElsewhere(await emitWithFile({ options: spanTakers()[1]!.options })),
      '`metricReader`': async () => {
        const { metricReader, names } = memoryReader();
        const emitted = await emitWithFile(
          { config: { metricsEnabled: true }, options: { metricReader } },
          { OTEL_EXPORTER_OTLP_ENDPOINT: 'COLLECTOR' },
        );
        expect(emitted.receiver.requests).toEqual(['POST /v1/traces application/x-protobuf']);
        expect(names()).toEqual(OUR_METRICS);
      },
    },
  ),
};
