import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ShownSpan } from './shown-span.js';

/** The part of an OTLP span, as JSON, that the demo reads: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding */
interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status: { code?: number };
  readonly attributes: readonly { key: string; value: { stringValue?: string } }[];
}

interface OtlpRequest {
  readonly resourceSpans: readonly { scopeSpans: readonly { spans: readonly OtlpSpan[] }[] }[];
}

/** A small collector: takes what the shop's exporter sends over HTTP, as a real one does. */
export class OtlpCollector {
  private collected: OtlpSpan[] = [];

  static async start(): Promise<OtlpCollector> {
    const collector = new OtlpCollector();
    collector.server.listen(0, '127.0.0.1');
    await new Promise((resolve) => collector.server.once('listening', resolve));
    return collector;
  }

  private readonly server: Server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      if (request.url === '/v1/traces') this.take(body);
      response.setHeader('content-type', 'application/json').end('{}');
    });
  });

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Forgets what has come so far. */
  drain(): void {
    this.collected = [];
  }

  /** The trace of the span of that name, in the order in which its spans started, and how many bytes they took as JSON. */
  traceOf(name: string): { spans: ShownSpan[]; bytes: number } {
    const traceId = this.collected.find((span) => span.name === name)?.traceId;
    const spans = this.collected
      .filter((span) => span.traceId === traceId)
      .sort((a, b) => Number(BigInt(a.startTimeUnixNano) - BigInt(b.startTimeUnixNano)));
    return { spans: spans.map(toShown), bytes: Buffer.byteLength(JSON.stringify(spans)) };
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  private take(body: Buffer): void {
    const { resourceSpans } = JSON.parse(body.toString()) as OtlpRequest;
    for (const { scopeSpans } of resourceSpans) {
      for (const { spans } of scopeSpans) this.collected.push(...spans);
    }
  }
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

function toShown(span: OtlpSpan): ShownSpan {
  const { traceId, spanId, parentSpanId, name, status, attributes } = span;
  const nanoseconds = Number(BigInt(span.endTimeUnixNano) - BigInt(span.startTimeUnixNano));
  const context = (id: string) => ({ traceId, spanId: id, traceFlags: 1 });
  return {
    name,
    spanContext: () => context(spanId),
    ...(parentSpanId ? { parentSpanContext: context(parentSpanId) } : {}),
    duration: [Math.floor(nanoseconds / 1e9), nanoseconds % 1e9],
    status: { code: status.code ?? 0 },
    attributes: Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue])),
  };
}
