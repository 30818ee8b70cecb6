import { afterAll, describe, expect, it, vi } from 'vitest';
import {
  CERTIFICATE_FILE,
  KEY_FILE,
  type OtlpReceiver,
  type ReceivedSpan,
  startGrpcReceiver,
  startReceiver,
} from '../support/otlp-receiver.js';
import { type ShopProcess, startShop } from '../support/shop-process.js';

// test/docs/variable-scenarios.ts proves what is not here: batches, the configuration file, which instrumentations start, and
// which options win over a variable.

vi.setConfig({ testTimeout: 60_000 });

type Variables = Record<string, string>;

/** What the fixture `emit.mjs` is asked to do. */
interface Emit {
  count?: number;
  config?: Record<string, unknown>;
  options?: Record<string, unknown>;
  leftUndefined?: { config?: string[]; options?: string[]; resourceAttributes?: string[] };
  remote?: boolean;
  wait?: number;
}

interface Emitted {
  receiver: OtlpReceiver;
  /** What the process wrote meanwhile. */
  output: string;
  carrier: Record<string, string>;
  exporting: string;
  warnings: string[];
}

/** One process does everything, so that each set-up also shows that the one before has left nothing behind. */
let emitter: ShopProcess | undefined;
let jobs = 0;

/** Sets up in another process with these variables, makes a span in a span, and shuts down. */
async function emit(
  env: Variables,
  emitted: Emit = {},
  receiver?: OtlpReceiver | Promise<OtlpReceiver>,
): Promise<Emitted> {
  const collector = await (receiver ?? startReceiver());
  const filled = (value: string): string =>
    value
      .replace('COLLECTOR', collector.url)
      .replace('HOST', `127.0.0.1:${collector.port}`)
      .replace('CERTIFICATE', CERTIFICATE_FILE)
      .replace('KEY', KEY_FILE);
  const variables = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    ...Object.fromEntries(Object.entries(env).map(([name, value]) => [name, filled(value)])),
  };
  emitter ??= startShop({ script: 'emit.mjs', lives: 'file' });
  const id = ++jobs;
  const { length } = emitter.output;
  emitter.write(JSON.stringify({ ...emitted, id, env: variables }));
  const [, result] = await emitter.says(new RegExp(`RESULT ${id} (.*)\\n`));
  return {
    receiver: collector,
    output: emitter.output.slice(length),
    ...(JSON.parse(result!) as Pick<Emitted, 'carrier' | 'exporting' | 'warnings'>),
  };
}

afterAll(async () => {
  if (emitter === undefined) return;
  const late = setTimeout(() => emitter!.child.kill('SIGKILL'), 10_000);
  emitter.endInput();
  // Nothing of a hundred set-ups keeps it alive, and nothing has failed behind its back.
  expect(await emitter.exited).toEqual({ code: 0, signal: null });
  clearTimeout(late);
});

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
    events: [
      { name: 'step', attributes: { at: 0 } },
      { name: 'done', attributes: { at: 0, well: true } },
    ],
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
        attributes: { why: 'retry', times: 2 },
      },
      { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203332', attributes: {} },
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

/** One setting: what is seen when it is set, and not when it isn't. */
interface Setting {
  set: Variables;
  /** Set in both cases. */
  given?: Variables;
  asked?: Emit;
  seen: (emitted: Emitted) => unknown;
  is: unknown;
}

type Start = () => Promise<OtlpReceiver>;

/** What was emitted without the settings in question, by the kind of receiver and what was asked for. */
const controls = new Map<Start, Map<string, Promise<Emitted>>>();

function controlOf(start: Start, given: Variables, asked: Emit): Promise<Emitted> {
  const made = controls.get(start) ?? new Map<string, Promise<Emitted>>();
  controls.set(start, made);
  const key = JSON.stringify([given, asked]);
  const control = made.get(key) ?? emit(given, asked, start());
  made.set(key, control);
  return control;
}

async function expectInForce(
  { set, given = {}, asked = {}, seen, is }: Setting,
  start: Start = startReceiver,
): Promise<Emitted> {
  const control = await controlOf(start, given, asked);
  const emitted = await emit({ ...given, ...set }, asked, start());
  expect(seen(emitted)).toEqual(is);
  expect(seen(control)).not.toEqual(is);
  return emitted;
}

/** With titles that are the variables. */
const titled = (settings: Setting[]): [set: Variables, setting: Setting][] =>
  settings.map((setting) => [setting.set, setting]);

const requestsOf = ({ receiver }: Emitted): unknown => receiver.requests;
const namesOf = ({ receiver }: Emitted): unknown => receiver.names().sort();
const spanOf = ({ receiver }: Emitted, wanted: string): ReceivedSpan =>
  receiver.spans.find(({ name }) => name === wanted)!;
const resourceOf = ({ receiver }: Emitted): Record<string, unknown> => receiver.spans[0]!.resource;
const carriedKeys = ({ carrier }: Emitted): unknown => Object.keys(carrier).sort();
/** Of a header that the receiver saw last. */
const headerOf =
  (...names: string[]) =>
  ({ receiver }: Emitted): unknown =>
    names.map((name) => receiver.received.at(-1)?.headers[name]);

const EVERYTHING = ['inner', 'outer', 'probe'];
const PROTOBUF = 'application/x-protobuf';

describe("the SDK's own variables are in force", () => {
  it.each(
    titled([
      {
        set: { OTEL_SDK_DISABLED: ' TRUE ' },
        seen: ({ receiver, exporting }) => [receiver.requests, exporting],
        is: [[], 'false false'],
      },
      {
        set: { OTEL_TRACES_EXPORTER: 'console' },
        seen: ({ receiver, output }) => [receiver.requests, output.includes("name: 'outer'")],
        is: [[], true],
      },
      {
        set: { OTEL_TRACES_EXPORTER: 'console,otlp' },
        seen: (emitted) => [namesOf(emitted), emitted.output.includes("name: 'outer'")],
        is: [EVERYTHING, true],
      },
      {
        set: {
          OTEL_TRACES_EXPORTER: 'zipkin',
          OTEL_EXPORTER_ZIPKIN_ENDPOINT: 'COLLECTOR/api/v2/spans',
        },
        seen: requestsOf,
        is: ['POST /api/v2/spans application/json'],
      },
      {
        set: { OTEL_TRACES_EXPORTER: 'none' },
        given: { NEST_LENS_METRICS_ENABLED: 'yes' },
        seen: ({ receiver }) => new Set(receiver.requests),
        is: new Set([`POST /v1/metrics ${PROTOBUF}`]),
      },
      { set: { OTEL_PROPAGATORS: 'tracecontext' }, seen: carriedKeys, is: ['traceparent'] },
      { set: { OTEL_PROPAGATORS: 'baggage' }, seen: carriedKeys, is: ['baggage'] },
      {
        set: { OTEL_PROPAGATORS: 'b3multi' },
        seen: carriedKeys,
        is: ['x-b3-sampled', 'x-b3-spanid', 'x-b3-traceid'],
      },
      { set: { OTEL_PROPAGATORS: 'jaeger' }, seen: carriedKeys, is: ['uber-trace-id', 'uberctx-tenant'] },
      { set: { OTEL_PROPAGATORS: 'none' }, seen: carriedKeys, is: [] },
      {
        set: { OTEL_PROPAGATORS: 'b3,tracecontext' },
        seen: carriedKeys,
        is: ['b3', 'traceparent'],
      },
      {
        set: {
          OTEL_SERVICE_NAME: 'by name',
          OTEL_RESOURCE_ATTRIBUTES: 'service.name=by-attribute,region=eu',
        },
        seen: resourceOf,
        is: expect.objectContaining({ 'service.name': 'by name', region: 'eu' }),
      },
      {
        set: { OTEL_RESOURCE_ATTRIBUTES: 'service.name=by-attribute' },
        seen: (emitted) => resourceOf(emitted)['service.name'],
        is: 'by-attribute',
      },
      {
        set: { OTEL_NODE_RESOURCE_DETECTORS: 'none' },
        given: { OTEL_RESOURCE_ATTRIBUTES: 'region=eu' },
        seen: (emitted) =>
          Object.keys(resourceOf(emitted)).filter((key) => /^(host|process|region)/.test(key)),
        is: [],
      },
      {
        set: { OTEL_NODE_RESOURCE_DETECTORS: 'env,os' },
        given: { OTEL_RESOURCE_ATTRIBUTES: 'region=eu' },
        seen: (emitted) => ['region', 'os.type', 'host.name'].map((key) => key in resourceOf(emitted)),
        is: [true, true, false],
      },
      {
        set: { OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT: '2' },
        seen: (emitted) => Object.keys(spanOf(emitted, 'inner').attributes).length,
        is: 2,
      },
      {
        set: { OTEL_ATTRIBUTE_COUNT_LIMIT: '3' },
        seen: (emitted) => Object.keys(spanOf(emitted, 'inner').attributes).length,
        is: 3,
      },
      {
        set: { OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT: '3' },
        seen: (emitted) => spanOf(emitted, 'inner').attributes.text,
        is: 'bös',
      },
      {
        set: { OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT: '5' },
        seen: (emitted) => spanOf(emitted, 'inner').attributes.text,
        is: 'böser',
      },
      {
        set: { OTEL_SPAN_EVENT_COUNT_LIMIT: '1' },
        seen: (emitted) => spanOf(emitted, 'outer').events.map(({ name }) => name),
        is: ['done'],
      },
      {
        set: { OTEL_SPAN_ATTRIBUTE_PER_EVENT_COUNT_LIMIT: '1' },
        seen: (emitted) => spanOf(emitted, 'outer').events.map(({ attributes }) => attributes),
        is: [{ at: 0 }, { at: 0 }],
      },
      {
        set: { OTEL_SPAN_LINK_COUNT_LIMIT: '1' },
        seen: (emitted) => spanOf(emitted, 'inner').links.length,
        is: 1,
      },
      {
        set: { OTEL_SPAN_ATTRIBUTE_PER_LINK_COUNT_LIMIT: '1' },
        seen: (emitted) => spanOf(emitted, 'inner').links[0]!.attributes,
        is: { why: 'retry' },
      },
    ]),
  )('H11: %j', async (_, setting) => {
    const emitted = await expectInForce(setting);
    expect(emitted.warnings).toEqual([]);
  });

  it('H11: none, the defaults of the SDK', async () => {
    const emitted = await emit({});
    expect(requestsOf(emitted)).toEqual([`POST /v1/traces ${PROTOBUF}`]);
    expect(carriedKeys(emitted)).toEqual(['baggage', 'traceparent']);
    expect(resourceOf(emitted)['service.name']).toMatch(/^unknown_service/);
  });

  it('H11: OTEL_LOG_LEVEL, which has the SDK say what it does, until the shutdown', async () => {
    await expectInForce({
      set: { OTEL_LOG_LEVEL: 'debug' },
      seen: ({ output }) => output.includes('items to be sent'),
      is: true,
    });
    expect((await emit({})).output).toMatch(/^RESULT .*\n$/);
  });
});

describe('every sampler that OTEL_TRACES_SAMPLER names is in force', () => {
  // The trace of the sampled parent is one that a ratio of a half drops, that of the other one it keeps.
  const [parents, roots] = [['under sampled', 'under unsampled'], EVERYTHING];
  it.each<[sampler: string, argument: string, names: string[]]>([
    ['always_on', '', [...roots, ...parents]],
    ['always_off', '', []],
    ['traceidratio', '0', []],
    ['traceidratio', '1', [...roots, ...parents]],
    ['parentbased_always_on', '', [...roots, 'under sampled']],
    ['parentbased_always_off', '', ['under sampled']],
    ['parentbased_traceidratio', '0', ['under sampled']],
    ['parentbased_traceidratio', '1', [...roots, 'under sampled']],
  ])('H11: %s, with the argument %j', async (sampler, argument, names) => {
    const emitted = await emit(
      { OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: argument },
      { remote: true },
    );
    expect(namesOf(emitted)).toEqual(names.sort());
    expect(emitted.carrier.traceparent).toMatch(names.includes('outer') ? /-01$/ : /-00$/);
    expect(emitted.warnings).toEqual([]);
  });

  it('H11: traceidratio, with the argument "0.5", goes by the id of the trace, whatever the parent says', async () => {
    const emitted = await emit(
      { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.5' },
      { remote: true },
    );
    const remote = emitted.receiver.names().filter((name) => name.startsWith('under'));
    expect(remote).toEqual(['under unsampled']);
  });
});

/** What is the same by every protocol. */
describe.each([
  { protocol: 'http/protobuf', type: PROTOBUF, path: '/v1/traces', start: startReceiver },
  { protocol: 'http/json', type: 'application/json', path: '/v1/traces', start: startReceiver },
  {
    protocol: 'grpc',
    type: 'application/grpc',
    path: '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
    start: startGrpcReceiver,
  },
])("the exporter's variables are in force by $protocol", ({ protocol, type, path, start }) => {
  const isGrpc = protocol === 'grpc';
  const given = { OTEL_EXPORTER_OTLP_PROTOCOL: protocol };
  const compression = isGrpc ? 'grpc-encoding' : 'content-encoding';
  // What doesn't get through is given up soon.
  const hasty = { ...given, OTEL_EXPORTER_OTLP_TIMEOUT: '500' };
  const nowhere = { ...hasty, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' };
  const withTls: Start = () => start({ tls: true });
  const withoutCertificate = { ...hasty, OTEL_EXPORTER_OTLP_ENDPOINT: 'COLLECTOR' };

  it.each(
    titled([
      {
        set: { OTEL_EXPORTER_OTLP_ENDPOINT: 'COLLECTOR' },
        given: nowhere,
        seen: requestsOf,
        is: [`POST ${path} ${type}`],
      },
      {
        set: { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: isGrpc ? 'COLLECTOR' : 'COLLECTOR/elsewhere' },
        given: nowhere,
        seen: requestsOf,
        is: [`POST ${isGrpc ? path : '/elsewhere'} ${type}`],
      },
      {
        set: { OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: protocol },
        given: {
          OTEL_EXPORTER_OTLP_PROTOCOL: protocol === 'http/json' ? 'http/protobuf' : 'http/json',
          OTEL_EXPORTER_OTLP_TIMEOUT: '500',
        },
        seen: requestsOf,
        is: [`POST ${path} ${type}`],
      },
      {
        set: { OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20abc,x-tenant=acme' },
        given,
        seen: headerOf('authorization', 'x-tenant'),
        is: ['Bearer abc', 'acme'],
      },
      {
        set: { OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-tenant=traces' },
        given: { ...given, OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=acme,x-all=1' },
        seen: headerOf('x-tenant', 'x-all'),
        is: ['traces', '1'],
      },
      {
        set: { OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip' },
        given,
        seen: (emitted) => [headerOf(compression)(emitted), namesOf(emitted)],
        is: [['gzip'], EVERYTHING],
      },
      {
        set: { OTEL_EXPORTER_OTLP_TRACES_COMPRESSION: 'gzip' },
        given: { ...given, OTEL_EXPORTER_OTLP_COMPRESSION: 'none' },
        seen: (emitted) => [headerOf(compression)(emitted), namesOf(emitted)],
        is: [['gzip'], EVERYTHING],
      },
    ]),
  )('H11: %j', async (_, setting) => {
    const emitted = await expectInForce(setting, start);
    expect(emitted.warnings).toEqual([]);
  });

  it.each(
    titled([
      { set: { OTEL_EXPORTER_OTLP_CERTIFICATE: 'CERTIFICATE' }, seen: namesOf, is: EVERYTHING },
      { set: { OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE: 'CERTIFICATE' }, seen: namesOf, is: EVERYTHING },
      {
        set: {
          OTEL_EXPORTER_OTLP_CERTIFICATE: 'CERTIFICATE',
          OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: 'CERTIFICATE',
          OTEL_EXPORTER_OTLP_CLIENT_KEY: 'KEY',
        },
        seen: ({ receiver }) => receiver.received[0]?.hasClientCertificate,
        is: true,
      },
    ]),
  )('H11: with TLS, %j', async (_, setting) => {
    const emitted = await expectInForce({ ...setting, given: withoutCertificate }, withTls);
    expect(emitted.warnings).toEqual([]);
  });

  it.each<Variables>([{ OTEL_EXPORTER_OTLP_TIMEOUT: '300' }, { OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: '300' }])(
    'H11: %j',
    async (set) => {
      const receiver = await start();
      receiver.misbehaves = 'never answers';
      await emit({ ...given, ...set }, {}, receiver);
      // By default it would be 10 s.
      expect(await receiver.received[0]!.abandonedAfter).toBeLessThan(4_000);
    },
  );

  if (isGrpc) {
    it.each(
      titled([
        { set: { OTEL_EXPORTER_OTLP_INSECURE: 'true' }, seen: namesOf, is: EVERYTHING },
        { set: { OTEL_EXPORTER_OTLP_TRACES_INSECURE: 'true' }, seen: namesOf, is: EVERYTHING },
      ]),
    )('H11: for an endpoint without a scheme, %j', async (_, setting) => {
      await expectInForce({ ...setting, given: { ...hasty, OTEL_EXPORTER_OTLP_ENDPOINT: 'HOST' } }, start);
    });
  }
});

describe('what is said in code', () => {
  it('H11: an option that is given as undefined wins over nothing', async () => {
    const emitted = await emit(
      {
        OTEL_SERVICE_NAME: 'by variable',
        OTEL_RESOURCE_ATTRIBUTES: 'region=eu',
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
        NEST_LENS_METRICS_ENABLED: 'yes',
      },
      {
        leftUndefined: {
          config: ['serviceName'],
          options: [
            'spanExporter',
            'spanProcessors',
            'metricReader',
            'instrumentations',
            'resourceAttributes',
            'mode',
          ],
        },
      },
    );
    expect(new Set(emitted.receiver.requests)).toEqual(
      new Set(['POST /v1/traces application/json', 'POST /v1/metrics application/json']),
    );
    expect(resourceOf(emitted)).toMatchObject({ 'service.name': 'by variable', region: 'eu' });
    expect(namesOf(emitted)).toEqual(EVERYTHING);
    expect(emitted.warnings).toEqual([]);
  });

  it('H11: a resource attribute that is given as undefined wins over nothing', async () => {
    const emitted = await emit(
      { OTEL_SERVICE_NAME: 'by variable', OTEL_RESOURCE_ATTRIBUTES: 'region=eu' },
      { leftUndefined: { resourceAttributes: ['region', 'service.name'] } },
    );
    expect(resourceOf(emitted)).toMatchObject({ 'service.name': 'by variable', region: 'eu' });
  });
});
