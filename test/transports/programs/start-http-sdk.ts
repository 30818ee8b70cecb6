import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';

// Loaded by --import, before the application loads `http`.
const exporter = new InMemorySpanExporter();
const sdk = new NodeSDK({
  instrumentations: [new HttpInstrumentation({ disableOutgoingRequestInstrumentation: true })],
  spanProcessors: [new SimpleSpanProcessor(exporter)],
  metricReaders: [],
  logRecordProcessors: [],
});
sdk.start();
(globalThis as { finishedSpans?: () => unknown[] }).finishedSpans = () =>
  exporter.getFinishedSpans().map((span) => ({
    name: span.name,
    kind: span.kind,
    traceId: span.spanContext().traceId,
    spanId: span.spanContext().spanId,
    parentSpanId: span.parentSpanContext?.spanId ?? null,
    attributes: span.attributes,
    status: span.status.code,
  }));
