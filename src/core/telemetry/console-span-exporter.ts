import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import type { KeptSpan } from '../state/recent-traces-state.js';
import { microseconds, milliseconds } from '../traces/span-time.js';
import type { SpanExporterLike } from './setup-options.js';
import { writeOut } from './standard-output.js';

const SUCCESS = 0;

/** Exporter `console`: one compact JSON line a span, on standard output. (The SDK's own prints some thirty lines each.) */
export function createConsoleSpanExporter(): SpanExporterLike {
  return {
    export(spans, done) {
      for (const span of spans as readonly KeptSpan[]) writeOut(`${JSON.stringify(describe(span))}\n`);
      done({ code: SUCCESS });
    },
    shutdown: () => Promise.resolve(),
    forceFlush: () => Promise.resolve(),
  };
}

function describe(span: KeptSpan) {
  const { traceId, spanId } = span.spanContext();
  return {
    name: span.name,
    traceId,
    spanId,
    parentSpanId: span.parentSpanContext?.spanId ?? null,
    kind: SpanKind[span.kind],
    start: new Date(milliseconds(span.startTime)).toISOString(),
    durationMs: microseconds(milliseconds(span.duration)),
    status: SpanStatusCode[span.status.code],
    ...(span.status.message === undefined ? {} : { statusMessage: span.status.message }),
    attributes: span.attributes,
    ...(span.events.length === 0
      ? {}
      : { events: span.events.map(({ name, attributes }) => ({ name, attributes })) }),
  };
}
