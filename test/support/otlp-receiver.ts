import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { afterEachTest } from './after-each-test.js';
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

/** What is to be seen of a request besides its body. */
export interface ReceivedRequest {
  readonly headers: http.IncomingHttpHeaders;
  readonly at: number;
  /** The length of the body, as it was sent; over HTTP. */
  bytes?: number;
  /** Whether the client has shown a certificate that the receiver trusts. */
  readonly hasClientCertificate: boolean;
  /** How long it takes the sender to give up, in milliseconds, where the receiver never answers. */
  abandonedAfter?: Promise<number>;
}

export interface OtlpReceiver {
  readonly spans: ReceivedSpan[];
  readonly metrics: ReceivedMetric[];
  /** One `POST /v1/traces application/x-protobuf` for each request. */
  readonly requests: string[];
  /** The same requests, with what else is known of them. */
  readonly received: ReceivedRequest[];
  readonly port: number;
  readonly url: string;
  misbehaves: Misbehaviour | undefined;
  names(): string[];
  stop(): Promise<void>;
}

const receivers = new Set<{ stop(): Promise<void> }>();

afterEachTest(async () => {
  for (const receiver of receivers) await receiver.stop();
});

const pem = (name: string): Buffer =>
  readFileSync(new URL(`../lifecycle/fixtures/${name}.pem`, import.meta.url));

/** The certificate that the receivers show; it is valid for 127.0.0.1, and they trust a client who shows the same one. */
const tlsOptions = () => ({
  cert: pem('loopback-certificate'),
  key: pem('loopback-key'),
  ca: pem('loopback-certificate'),
  requestCert: true,
  rejectUnauthorized: false,
});

const fileOf = (name: string): string =>
  fileURLToPath(new URL(`../lifecycle/fixtures/${name}.pem`, import.meta.url));
/** Paths of the certificate of a receiver with TLS, and of its key. */
export const CERTIFICATE_FILE = fileOf('loopback-certificate');
export const KEY_FILE = fileOf('loopback-key');

function receivedOf(
  headers: http.IncomingHttpHeaders,
  socket: { authorized?: boolean } | undefined,
): ReceivedRequest {
  return { headers, at: performance.now(), hasClientCertificate: socket?.authorized === true };
}

/** Notes when the sender gives up, for a request that isn't answered. */
function leaveUnanswered(received: ReceivedRequest, response: NodeJS.EventEmitter): void {
  received.abandonedAfter = once(response, 'close').then(() => performance.now() - received.at);
}

export interface ReceiverOptions {
  port?: number;
  tls?: boolean;
}

/** A receiver for OTLP over HTTP, as JSON and as protobuf. */
export async function startReceiver({ port = 0, tls = false }: ReceiverOptions = {}): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const metrics: ReceivedMetric[] = [];
  const requests: string[] = [];
  const received: ReceivedRequest[] = [];
  const timers = new Set<NodeJS.Timeout>();
  const server = tls ? https.createServer(tlsOptions()) : http.createServer();
  server.on('request', (request: http.IncomingMessage, response: http.ServerResponse) => {
    const chunks: Buffer[] = [];
    request.on('error', () => undefined);
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      requests.push(`${request.method} ${request.url} ${request.headers['content-type']}`);
      const seen = receivedOf(request.headers, request.socket as TLSSocket);
      received.push(seen);
      const body = Buffer.concat(chunks);
      seen.bytes = body.length;
      switch (receiver.misbehaves) {
        case 'never answers':
          leaveUnanswered(seen, response);
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
    received,
    port: address.port,
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${address.port}`,
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

/** A receiver for OTLP over gRPC: calls of one message, as they look on the wire. It knows traces only. */
export async function startGrpcReceiver({
  port = 0,
  tls = false,
}: ReceiverOptions = {}): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const requests: string[] = [];
  const received: ReceivedRequest[] = [];
  const sessions = new Set<http2.ServerHttp2Session>();
  const server = tls ? http2.createSecureServer(tlsOptions()) : http2.createServer();
  server.on('session', (session: http2.ServerHttp2Session) => sessions.add(session));
  server.on('stream', (stream: http2.ServerHttp2Stream, headers: http2.IncomingHttpHeaders) => {
    const chunks: Buffer[] = [];
    stream.on('error', () => undefined);
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => {
      requests.push(`${headers[':method']} ${headers[':path']} ${headers['content-type']}`);
      const seen = receivedOf(headers, stream.session?.socket as TLSSocket);
      received.push(seen);
      if (receiver.misbehaves === 'never answers') return leaveUnanswered(seen, stream);
      void receive(Buffer.concat(chunks)).then(() => {
        stream.respond({ 'content-type': 'application/grpc' }, { waitForTrailers: true });
        stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
        // An empty message: not compressed, of no length.
        stream.end(Buffer.alloc(5));
      });
    });
  });

  async function receive(frame: Buffer): Promise<void> {
    const message = frame.subarray(5, 5 + frame.readUInt32BE(1));
    const body = frame[0] === 1 ? await promisify(gunzip)(message) : message;
    const type = root.lookupType(REQUESTS.traces);
    spans.push(...spansOf(type.toObject(type.decode(body), TO_OBJECT), 'base64'));
  }

  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address() as AddressInfo;
  const receiver: OtlpReceiver = {
    spans,
    metrics: [],
    requests,
    received,
    port: address.port,
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${address.port}`,
    misbehaves: undefined,
    names: () => spans.map(({ name }) => name),
    async stop() {
      if (!receivers.delete(receiver)) return;
      const closed = once(server, 'close');
      server.close();
      for (const session of sessions) session.destroy();
      await closed;
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
