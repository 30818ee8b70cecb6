import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import * as grpc from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { afterEach } from '@jest/globals';
import protobuf from 'protobufjs';

// Decodes with the published protocol definitions, so that a mistake of the code that encoded isn't made twice.
const protoFolder = fileURLToPath(
  new URL('../../node_modules/otlp-protocol-definitions/build/protos/', import.meta.url),
);
const SERVICES = ['trace/v1/trace_service', 'metrics/v1/metrics_service'].map(
  (name) => `${protoFolder}opentelemetry/proto/collector/${name}.proto`,
);
const PACKAGE = 'opentelemetry.proto.collector';
const REQUESTS = {
  traces: `${PACKAGE}.trace.v1.ExportTraceServiceRequest`,
  metrics: `${PACKAGE}.metrics.v1.ExportMetricsServiceRequest`,
} as const;
const TO_OBJECT = { longs: String, bytes: String, enums: Number, defaults: false, arrays: true } as const;

const root = new protobuf.Root();
root.resolvePath = (_origin, target) => (target.startsWith('/') ? target : `${protoFolder}${target}`);
root.loadSync(SERVICES);

export interface ReceivedSpan {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId: string;
  kind: number;
  status: { code: number; message: string };
  attributes: Record<string, unknown>;
  events: { name: string; attributes: Record<string, unknown> }[];
  links: { traceId: string; spanId: string; attributes: Record<string, unknown> }[];
  startTimeUnixNano: bigint;
  endTimeUnixNano: bigint;
  scope: { name: string; version: string };
  resource: Record<string, unknown>;
}

export interface ReceivedMetric {
  name: string;
  scope: string;
  points: { value: number; attributes: Record<string, unknown> }[];
}

/** What the receiver does with a request instead of answering it. */
export type Misbehaviour = 'never answers' | '503' | 'resets' | 'trickles';

export interface OtlpReceiver {
  readonly spans: ReceivedSpan[];
  readonly metrics: ReceivedMetric[];
  /** One `POST /v1/traces application/x-protobuf` for each request. */
  readonly requests: string[];
  readonly port: number;
  readonly url: string;
  misbehaves: Misbehaviour | undefined;
  names(): string[];
  stop(): Promise<void>;
}

const receivers = new Set<{ stop(): Promise<void> }>();

afterEach(async () => {
  for (const receiver of receivers) await receiver.stop();
});

/** A receiver for OTLP over HTTP, as JSON and as protobuf. */
export async function startReceiver({ port = 0 }: { port?: number } = {}): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const metrics: ReceivedMetric[] = [];
  const requests: string[] = [];
  const timers = new Set<NodeJS.Timeout>();
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('error', () => undefined);
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      requests.push(`${request.method} ${request.url} ${request.headers['content-type']}`);
      const body = Buffer.concat(chunks);
      switch (receiver.misbehaves) {
        case 'never answers':
          return;
        case 'resets':
          request.socket.resetAndDestroy();
          return;
        case '503':
          response.writeHead(503, { 'content-type': 'application/json' }).end('{}');
          return;
        case 'trickles':
          response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100000' });
          timers.add(setInterval(() => response.write(' '), 20));
          return;
        default:
      }
      void receive(request.url!, request.headers, body).then(() => {
        response.setHeader('content-type', request.headers['content-type'] ?? 'application/json');
        response.end(/json/.test(request.headers['content-type'] ?? '') ? '{}' : '');
      });
    });
  });

  async function receive(path: string, headers: http.IncomingHttpHeaders, raw: Buffer): Promise<void> {
    const body = headers['content-encoding'] === 'gzip' ? await promisify(gunzip)(raw) : raw;
    const signal = path.endsWith('/v1/metrics') ? 'metrics' : 'traces';
    const isJson = headers['content-type']!.includes('json');
    const type = root.lookupType(REQUESTS[signal]);
    const message = isJson
      ? (JSON.parse(body.toString()) as object)
      : type.toObject(type.decode(body), TO_OBJECT);
    if (signal === 'traces') spans.push(...spansOf(message, isJson ? 'hex' : 'base64'));
    else metrics.push(...metricsOf(message));
  }

  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address() as AddressInfo;
  const receiver: OtlpReceiver = {
    spans,
    metrics,
    requests,
    port: address.port,
    url: `http://127.0.0.1:${address.port}`,
    misbehaves: undefined,
    names: () => spans.map(({ name }) => name),
    async stop() {
      if (!receivers.delete(receiver)) return;
      for (const timer of timers) clearInterval(timer);
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  receivers.add(receiver);
  return receiver;
}

/** A receiver for OTLP over gRPC. */
export async function startGrpcReceiver(): Promise<Pick<OtlpReceiver, 'spans' | 'url' | 'stop'>> {
  const spans: ReceivedSpan[] = [];
  const definition = loadSync([SERVICES[0]!], {
    includeDirs: [protoFolder],
    longs: String,
    bytes: String,
    enums: Number,
    arrays: true,
  });
  const server = new grpc.Server();
  server.addService(definition[`${PACKAGE}.trace.v1.TraceService`] as grpc.ServiceDefinition, {
    Export(call: { request: object }, done: (error: null, response: object) => void) {
      // The loader makes strings of bytes by base64.
      spans.push(...spansOf(call.request, 'base64'));
      done(null, {});
    },
  });
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  );
  const receiver = {
    spans,
    url: `http://127.0.0.1:${port}`,
    async stop() {
      if (receivers.delete(receiver)) server.forceShutdown();
    },
  };
  receivers.add(receiver);
  return receiver;
}

function spansOf(request: any, idEncoding: 'hex' | 'base64'): ReceivedSpan[] {
  const hex = (id: string | undefined): string =>
    !id ? '' : idEncoding === 'hex' ? id : Buffer.from(id, 'base64').toString('hex');
  return (request.resourceSpans ?? []).flatMap(({ resource, scopeSpans }: any) =>
    scopeSpans.flatMap(({ scope, spans }: any) =>
      spans.map((span: any) => ({
        name: span.name,
        traceId: hex(span.traceId),
        spanId: hex(span.spanId),
        parentSpanId: hex(span.parentSpanId),
        kind: span.kind,
        status: { code: span.status?.code ?? 0, message: span.status?.message ?? '' },
        attributes: attributesOf(span.attributes),
        events: (span.events ?? []).map(({ name, attributes }: any) => ({
          name,
          attributes: attributesOf(attributes),
        })),
        links: (span.links ?? []).map((link: any) => ({
          traceId: hex(link.traceId),
          spanId: hex(link.spanId),
          attributes: attributesOf(link.attributes),
        })),
        startTimeUnixNano: BigInt(span.startTimeUnixNano),
        endTimeUnixNano: BigInt(span.endTimeUnixNano),
        scope: { name: scope.name, version: scope.version },
        resource: attributesOf(resource.attributes),
      })),
    ),
  );
}

function metricsOf(request: any): ReceivedMetric[] {
  return (request.resourceMetrics ?? []).flatMap(({ scopeMetrics }: any) =>
    scopeMetrics.flatMap(({ scope, metrics }: any) =>
      metrics.map((metric: any) => ({
        name: metric.name,
        scope: scope.name,
        points: ((metric.sum ?? metric.gauge)?.dataPoints ?? []).map((point: any) => ({
          value: Number(point.asInt ?? point.asDouble),
          attributes: attributesOf(point.attributes),
        })),
      })),
    ),
  );
}

function attributesOf(attributes: any[] = []): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, valueOf(value)]));
}

function valueOf(value: any): unknown {
  if (value.stringValue !== undefined) return value.stringValue;
  if (value.boolValue !== undefined) return value.boolValue;
  if (value.intValue !== undefined) return Number(value.intValue);
  if (value.doubleValue !== undefined) return value.doubleValue;
  if (value.arrayValue !== undefined) return (value.arrayValue.values ?? []).map(valueOf);
  return undefined;
}
