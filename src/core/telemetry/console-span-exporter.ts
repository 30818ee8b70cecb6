import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import type { SpanExporterLike } from './setup-options.js';

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

/**
 * Exporter `console`: one compact JSON line a span, on standard output. (The SDK's own prints some thirty lines each.)
 *
 * It doesn't use `console.log`, because an application may have replaced that with a queue that a traced function empties.
 * Each line would then make another span to print, without end.
 */
export function createConsoleSpanExporter(): SpanExporterLike {
  return {
    export(spans, done) {
      for (const span of spans as readonly PrintableSpan[]) print(JSON.stringify(describe(span)));
      done({ code: SUCCESS });
    },
    shutdown: () => Promise.resolve(),
    forceFlush: () => Promise.resolve(),
  };
}

function print(line: string): void {
  const { stdout } = process;
  stdout.write(`${line}\n`, (error) => {
    // The stream emits the error next, e.g. when the reader of a pipe has ended. Without a listener that ends the process.
    if (!error || stdout.listeners('error').includes(ignoreError)) return;
    stdout.on('error', ignoreError);
    setImmediate(() => stdout.off('error', ignoreError));
  });
}

function ignoreError(): void {
  // An application's own listener gets the error, too.
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
