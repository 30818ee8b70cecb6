import { createRequire } from 'node:module';
import { ExpressInstrumentation } from '@opentelemetry/instrumentation-express';
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';

const require = createRequire(import.meta.url);
const { FastifyOtelInstrumentation } = require('@fastify/otel') as typeof import('@fastify/otel');

// Loaded by --import, before the application loads `http`.
const exporter = new InMemorySpanExporter();
const metrics = new InMemoryMetricExporter(AggregationTemporality.DELTA);
const metricReader = new PeriodicExportingMetricReader({
  exporter: metrics,
  exportIntervalMillis: 3_600_000,
});
const ofRouters =
  process.env['ROUTER_INSTRUMENTATIONS'] === 'true'
    ? [new ExpressInstrumentation(), new FastifyOtelInstrumentation({ registerOnInitialization: true })]
    : [];
const sdk = new NodeSDK({
  instrumentations: [new HttpInstrumentation({ disableOutgoingRequestInstrumentation: true }), ...ofRouters],
  spanProcessors: [new SimpleSpanProcessor(exporter)],
  metricReaders: [metricReader],
  logRecordProcessors: [],
});
sdk.start();
// The instrumentation sees what is required, not what is imported; the module is one and the same.
if (ofRouters.length > 0) require('express');
const globals = globalThis as { finishedSpans?: () => unknown[]; requestRoutes?: () => Promise<unknown[]> };
/** The routes in the attributes of `http.server.request.duration`, of the requests since they were asked for last. */
globals.requestRoutes = async () => {
  await metricReader.forceFlush();
  const exported = metrics.getMetrics();
  metrics.reset();
  return exported
    .flatMap(({ scopeMetrics }) => scopeMetrics)
    .flatMap(({ metrics }) => metrics)
    .filter(({ descriptor }) => descriptor.name === 'http.server.request.duration')
    .flatMap(({ dataPoints }) => dataPoints.map(({ attributes }) => attributes['http.route'] ?? null));
};
globals.finishedSpans = () =>
  exporter.getFinishedSpans().map((span) => ({
    name: span.name,
    kind: span.kind,
    traceId: span.spanContext().traceId,
    spanId: span.spanContext().spanId,
    parentSpanId: span.parentSpanContext?.spanId ?? null,
    attributes: span.attributes,
    status: span.status.code,
  }));
