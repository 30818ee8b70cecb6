import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type OtlpReceiver, type ReceivedSpan, startGrpcReceiver, startReceiver } from './otlp-receiver.js';
import { type ShopProcess, startShop } from './shop-process.js';

jest.setTimeout(60_000);

interface Emit {
  count?: number;
  config?: Record<string, unknown>;
  options?: Record<string, unknown>;
  wait?: number;
}

interface Emitted {
  receiver: OtlpReceiver;
  process: ShopProcess;
  carrier: Record<string, string>;
  exporting: string;
}

/** Sets up in a process of its own with these variables, makes a span in a span, and shuts down. */
async function emit(
  env: Record<string, string>,
  emitted: Emit = {},
  receiver?: OtlpReceiver,
): Promise<Emitted> {
  const collector = receiver ?? (await startReceiver());
  const child = startShop({
    script: 'emit.mjs',
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      EMIT: JSON.stringify(emitted),
      ...Object.fromEntries(
        Object.entries(env).map(([name, value]) => [name, value.replace('COLLECTOR', collector.url)]),
      ),
    },
  });
  const carrier = JSON.parse((await child.says(/CARRIER (.*)\n/))[1]!) as Record<string, string>;
  const exporting = (await child.says(/EXPORTING (.*)\n/))[1]!;
  expect(await child.exited).toEqual({ code: 0, signal: null });
  return { receiver: collector, process: child, carrier, exporting };
}

function expectComplete(spans: ReceivedSpan[]): void {
  expect(spans.map(({ name }) => name).sort()).toEqual(['inner', 'outer', 'probe']);
  const [outer, inner] = ['outer', 'inner'].map((wanted) => spans.find(({ name }) => name === wanted)!);
  expect(outer).toMatchObject({
    traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
    spanId: expect.stringMatching(/^[0-9a-f]{16}$/),
    parentSpanId: '',
    kind: 2,
    status: { code: 0, message: '' },
    attributes: { 'nestlens.group': 'orders' },
    events: [{ name: 'step', attributes: { at: 0 } }],
    links: [],
    scope: { name: 'nest-lens', version: expect.stringMatching(/^\d+\.\d+\.\d+/) },
    resource: { 'nestlens.run_id': 'run-1', 'service.name': 'shop' },
  });
  expect(inner).toMatchObject({
    traceId: outer!.traceId,
    parentSpanId: outer!.spanId,
    kind: 1,
    status: { code: 2, message: 'no stock' },
    attributes: {
      'nestlens.group': 'orders',
      text: 'böser Text',
      whole: 3,
      half: 0.5,
      yes: true,
      list: ['a', 'b'],
    },
    events: [
      {
        name: 'exception',
        attributes: expect.objectContaining({ 'exception.type': 'Error', 'exception.message': 'no stock' }),
      },
    ],
    links: [
      {
        traceId: '0af7651916cd43dd8448eb211c80319c',
        spanId: 'b7ad6b7169203331',
        attributes: { why: 'retry' },
      },
    ],
  });
  for (const span of [outer!, inner!]) expect(span.endTimeUnixNano >= span.startTimeUnixNano).toBe(true);
}

const named = { OTEL_SERVICE_NAME: 'shop', NEST_LENS_RUN_ID: 'run-1' };

describe('on the wire, decoded with the published definitions', () => {
  it.each([
    ['http/protobuf', 'application/x-protobuf'],
    ['http/json', 'application/json'],
  ])('H11: spans arrive by %s, complete and once', async (protocol, type) => {
    const { receiver } = await emit({ ...named, OTEL_EXPORTER_OTLP_PROTOCOL: protocol });
    expectComplete(receiver.spans);
    expect(receiver.requests).toEqual([`POST /v1/traces ${type}`]);
  });

  it('H11: spans arrive by grpc, complete and once', async () => {
    const receiver = await startGrpcReceiver();
    await emit({
      ...named,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    });
    expectComplete(receiver.spans);
  });

  it('C2: metrics say which groups are on and how many spans each made', async () => {
    const { receiver } = await emit({ NEST_LENS_METRICS_ENABLED: 'yes' });
    const metric = (name: string): unknown => receiver.metrics.find((found) => found.name === name);
    expect(metric('nestlens.span_group.enabled')).toEqual({
      name: 'nestlens.span_group.enabled',
      scope: 'nest-lens',
      points: [{ value: 1, attributes: { 'nestlens.group': 'orders' } }],
    });
    expect(metric('nestlens.spans')).toEqual({
      name: 'nestlens.spans',
      scope: 'nest-lens',
      points: [{ value: 2, attributes: { 'nestlens.group': 'orders' } }],
    });
  });
});

describe("the SDK's own variables are in force", () => {
  const resourceOf = ({ receiver }: Emitted): Record<string, unknown> => receiver.spans[0]!.resource;

  it.each<[variables: Record<string, string>, asked: Emit, check: (emitted: Emitted) => void]>([
    [
      { OTEL_SDK_DISABLED: ' TRUE ' },
      {},
      ({ receiver, exporting }) => expect([receiver.requests, exporting]).toEqual([[], 'false false']),
    ],
    [
      { OTEL_TRACES_EXPORTER: 'none' },
      {},
      ({ receiver, exporting }) => expect([receiver.requests, exporting]).toEqual([[], 'false false']),
    ],
    [
      { OTEL_TRACES_EXPORTER: 'console' },
      {},
      ({ receiver, process }) => {
        expect(receiver.requests).toEqual([]);
        expect(process.output).toContain("name: 'outer'");
      },
    ],
    [
      { OTEL_TRACES_EXPORTER: 'none', NEST_LENS_METRICS_ENABLED: 'yes' },
      {},
      ({ receiver }) =>
        expect(new Set(receiver.requests)).toEqual(new Set(['POST /v1/metrics application/x-protobuf'])),
    ],
    [
      { OTEL_METRICS_EXPORTER: 'none', NEST_LENS_METRICS_ENABLED: 'yes' },
      {},
      ({ receiver }) => expect(receiver.requests).toEqual(['POST /v1/traces application/x-protobuf']),
    ],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: '', OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'COLLECTOR/elsewhere' },
      {},
      ({ receiver }) => expect(receiver.requests).toEqual(['POST /elsewhere application/x-protobuf']),
    ],
    [
      { OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json' },
      {},
      ({ receiver }) => expect(receiver.requests).toEqual(['POST /v1/traces application/json']),
    ],
    [
      { OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip' },
      {},
      ({ receiver }) => expect(receiver.names()).toContain('outer'),
    ],
    [
      { OTEL_TRACES_SAMPLER: 'always_off' },
      {},
      ({ receiver, carrier }) => {
        expect(receiver.requests).toEqual([]);
        expect(carrier.traceparent).toMatch(/-00$/);
      },
    ],
    [
      { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' },
      {},
      ({ receiver }) => expect(receiver.requests).toEqual([]),
    ],
    [{ OTEL_PROPAGATORS: 'b3' }, {}, ({ carrier }) => expect(Object.keys(carrier)).toEqual(['b3'])],
    [
      {},
      {},
      ({ carrier, receiver }) => {
        expect(Object.keys(carrier)).toEqual(['traceparent']);
        expect(receiver.spans[0]!.resource['service.name']).toMatch(/^unknown_service/);
      },
    ],
    [
      { OTEL_SERVICE_NAME: 'by name', OTEL_RESOURCE_ATTRIBUTES: 'service.name=by-attribute,region=eu' },
      {},
      (emitted) => expect(resourceOf(emitted)).toMatchObject({ 'service.name': 'by name', region: 'eu' }),
    ],
    [
      { OTEL_RESOURCE_ATTRIBUTES: 'service.name=by-attribute' },
      {},
      (emitted) => expect(resourceOf(emitted)['service.name']).toBe('by-attribute'),
    ],
    [
      { OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '1' },
      {},
      ({ receiver }) => expect(receiver.requests).toHaveLength(3),
    ],
    [
      { OTEL_BSP_MAX_QUEUE_SIZE: '2', OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '2', OTEL_BSP_SCHEDULE_DELAY: '60000' },
      { count: 20 },
      ({ receiver }) => expect(receiver.spans.length).toBeLessThan(40),
    ],
    [
      { OTEL_BSP_SCHEDULE_DELAY: '50' },
      { wait: 500 },
      ({ receiver }) => expect(receiver.requests.length).toBeGreaterThan(1),
    ],
    [
      { OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT: '2' },
      {},
      ({ receiver }) =>
        expect(Object.keys(receiver.spans.find(({ name }) => name === 'inner')!.attributes)).toHaveLength(2),
    ],
  ])('H11: %j', async (variables, asked, check) => {
    const emitted = await emit({ ...variables }, asked);
    check(emitted);
    expect(emitted.process.warnings()).toEqual([]);
  });

  it.each<[variables: Record<string, string>, asked: Emit, check: (emitted: Emitted) => void]>([
    [
      { OTEL_SERVICE_NAME: 'by variable' },
      { config: { serviceName: 'by option' } },
      (emitted) => expect(resourceOf(emitted)['service.name']).toBe('by option'),
    ],
    [
      { OTEL_RESOURCE_ATTRIBUTES: 'region=eu,zone=1' },
      { options: { resourceAttributes: { region: 'us' } } },
      (emitted) => expect(resourceOf(emitted)).toMatchObject({ region: 'us', zone: '1' }),
    ],
    [
      { OTEL_TRACES_EXPORTER: 'otlp' },
      { config: { exporter: 'none' } },
      ({ receiver, exporting }) => expect([receiver.requests, exporting]).toEqual([[], 'false true']),
    ],
  ])('H11: an option wins over %j when it is given', async (variables, asked, check) => {
    check(await emit(variables, asked));
  });
});

describe('the declarative configuration file', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'nest-lens-config-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  async function emitWithFile(asked: Emit = {}, env: Record<string, string> = {}): Promise<Emitted> {
    const receiver = await startReceiver();
    const file = join(folder, 'otel.yaml');
    writeFileSync(
      file,
      `file_format: "1.0"
resource:
  attributes:
    - name: service.name
      value: from-the-file
tracer_provider:
  processors:
    - batch:
        exporter:
          otlp_http:
            endpoint: ${receiver.url}/v1/traces
            encoding: json
`,
    );
    return emit({ OTEL_CONFIG_FILE: file, OTEL_EXPORTER_OTLP_ENDPOINT: '', ...env }, asked, receiver);
  }

  it('H11: is in force where OTEL_CONFIG_FILE names it', async () => {
    const { receiver, exporting } = await emitWithFile();
    expect(receiver.requests).toEqual(['POST /v1/traces application/json']);
    expect(receiver.names().sort()).toEqual(['inner', 'outer', 'probe']);
    expect(receiver.spans[0]!.resource['service.name']).toBe('from-the-file');
    expect(exporting).toBe('true true');
  });

  it('H10: has its open spans rescued too', async () => {
    const { receiver } = await emitWithFile();
    expect(receiver.spans.find(({ name }) => name === 'probe')!.attributes).toEqual({
      'nestlens.truncated': true,
    });
  });

  it('H11: gives way to an exporter that NestLens is told by name', async () => {
    const { receiver } = await emitWithFile({}, { NEST_LENS_EXPORTER: 'none' });
    expect(receiver.requests).toEqual([]);
  });
});
