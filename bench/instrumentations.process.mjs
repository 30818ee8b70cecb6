/**
 * One instrumentation in a process of its own: not there, ungated, or gated. Operations of it are asked for by messages, and each is
 * answered with what they took. Spans go through a batch processor to an exporter that serialises them as protobuf.
 */
import { createRequire } from 'node:module';
import { argv } from 'node:process';

const { subject, way, ports } = JSON.parse(argv[2]);
const require = createRequire(import.meta.url);
const { context, ROOT_CONTEXT, trace } = require('@opentelemetry/api');

let exportedBytes = 0;

/** What is there in an application without any instrumentation too: an SDK. */
function startSdk() {
  const { BatchSpanProcessor } = require('@opentelemetry/sdk-trace-base');
  const { NodeTracerProvider } = require('@opentelemetry/sdk-node').node;
  const { ProtobufTraceSerializer } = require('@opentelemetry/otlp-transformer');
  const exporter = {
    export(spans, done) {
      exportedBytes += ProtobufTraceSerializer.serializeRequest(spans).length;
      done({ code: 0 });
    },
    shutdown: async () => {},
    forceFlush: async () => {},
  };
  const processor = new BatchSpanProcessor(exporter, { maxQueueSize: 100_000 });
  const provider = new NodeTracerProvider({ spanProcessors: [processor] });
  provider.register();
  return provider;
}

const INSTRUMENTATIONS = {
  http: () => [new (require('@opentelemetry/instrumentation-http').HttpInstrumentation)()],
  'http, express': () => [
    ...INSTRUMENTATIONS.http(),
    new (require('@opentelemetry/instrumentation-express').ExpressInstrumentation)(),
  ],
  pg: () => [new (require('@opentelemetry/instrumentation-pg').PgInstrumentation)()],
  graphql: () => [new (require('@opentelemetry/instrumentation-graphql').GraphQLInstrumentation)()],
  ioredis: () => [new (require('@opentelemetry/instrumentation-ioredis').IORedisInstrumentation)()],
};

/** A server whose client is the process that measures. */
async function serve(server) {
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: server.address().port };
}

/** A request to a server on Express. */
function serveExpress() {
  const app = require('express')();
  app.get('/orders/:id', (_request, response) => response.json({ name: 'anvil' }));
  return serve(require('node:http').createServer(app));
}

const SUBJECTS = {
  http: serveExpress,
  'http, express': serveExpress,
  async pg() {
    const { Client } = require('pg');
    const client = new Client({ host: '127.0.0.1', port: ports.postgres, user: 'postgres' });
    await client.connect();
    return { operate: () => client.query('select 1 as one') };
  },
  graphql() {
    const { buildSchema, graphql } = require('graphql');
    const schema = buildSchema('type Query { order: Order } type Order { id: Int, name: String }');
    const rootValue = { order: async () => ({ id: 1, name: 'anvil' }) };
    return { operate: () => graphql({ schema, source: '{ order { id name } }', rootValue }) };
  },
  async ioredis() {
    const { Redis } = require('ioredis');
    const redis = new Redis(ports.redis, '127.0.0.1');
    return { operate: () => redis.get('one') };
  },
};

/** Operations of the application happen in a request, which has come from somebody with a trace. */
const inRequest = trace.setSpanContext(ROOT_CONTEXT, {
  traceId: '0af7651916cd43dd8448eb211c80319c',
  spanId: 'b7ad6b7169203331',
  traceFlags: 1,
  isRemote: true,
});

const provider = startSdk();
if (way !== 'absent') {
  const { registerInstrumentations } = require('@opentelemetry/instrumentation');
  registerInstrumentations({ instrumentations: INSTRUMENTATIONS[subject]() });
}
const lens = require('nest-lens/core');
if (way === 'gated') {
  const config = { ...lens.nestLensConfigFromEnv({ env: {} }), enabled: true, spanGroups: 'all' };
  await lens.setupTelemetry({ ...config, metricsEnabled: false }, { instrumentationGroups: true });
}
const { port, operate } = await SUBJECTS[subject]();

let start;
const answers = {
  async start({ spec }) {
    if (way === 'gated') lens.setSpanGroupSpec(spec);
    await provider.forceFlush();
    globalThis.gc();
    exportedBytes = 0;
    start = process.cpuUsage();
  },
  /** For those that nobody outside has to ask. */
  operate: ({ count }) =>
    context.with(inRequest, async () => {
      for (let i = 0; i < count; i++) await operate();
    }),
  async stop() {
    await provider.forceFlush();
    const { user, system } = process.cpuUsage(start);
    return { cpuUs: user + system, bytes: exportedBytes };
  },
};
async function answer({ what, ...task }) {
  process.send((await answers[what](task)) ?? {});
}
process.on('message', (message) => void answer(message));
process.on('disconnect', () => process.exit());
process.send({ port });
