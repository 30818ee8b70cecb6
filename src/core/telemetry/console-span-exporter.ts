import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import type { SpanExporterLike } from './setup-options.js';
import { writeOut } from './standard-output.js';

/** The fields of the SDK's `ReadableSpan` that are printed. */
interface PrintableSpan {
  readonly name: string;
  readonly kind: SpanKind;
  spanContext(): { traceId: string; spanId: string };
  readonly parentSpanContext?: { spanId: string };
  readonly startTime: readonly [number, number];
  readonly duration: readonly [number, number];
  readonly status: { code: SpanStatusCode; message?: string };
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly events: readonly { name: string; attributes?: Readonly<Record<string, unknown>> }[];
}

const SUCCESS = 0;

/** Exporter `console`: one compact JSON line a span, on standard output. (The SDK's own prints some thirty lines each.) */
export function createConsoleSpanExporter(): SpanExporterLike {
  return {
    export(spans, done) {
      for (const span of spans as readonly PrintableSpan[]) writeOut(`${JSON.stringify(describe(span))}\n`);
      done({ code: SUCCESS });
    },
    shutdown: () => Promise.resolve(),
    forceFlush: () => Promise.resolve(),
  };
}

function describe(span: PrintableSpan) {
  const { traceId, spanId } = span.spanContext();
  const milliseconds = ([seconds, nanoseconds]: readonly [number, number]) =>
    seconds * 1e3 + nanoseconds / 1e6;
  return {
    name: span.name,
    traceId,
    spanId,
    parentSpanId: span.parentSpanContext?.spanId ?? null,
    kind: SpanKind[span.kind],
    start: new Date(milliseconds(span.startTime)).toISOString(),
    durationMs: Math.round(milliseconds(span.duration) * 1e3) / 1e3,
    status: SpanStatusCode[span.status.code],
    ...(span.status.message === undefined ? {} : { statusMessage: span.status.message }),
    attributes: span.attributes,
    ...(span.events.length === 0
      ? {}
      : { events: span.events.map(({ name, attributes }) => ({ name, attributes })) }),
  };
}
