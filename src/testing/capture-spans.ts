import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';

/** Spans that a test caught. */
export interface CapturedSpans {
  /** Pass it to `telemetry.spanProcessors`. */
  readonly spanProcessor: SimpleSpanProcessor;
  /** The spans that have ended, in that order. */
  spans(): ReadableSpan[];
  /** Those of one name. */
  named(name: string): ReadableSpan[];
  /** Forgets the spans so far. */
  clear(): void;
}

/**
 * Catches spans in memory, for tests of your application.
 *
 * @example
 * const captured = captureSpans();
 * const app = await Test.createTestingModule({
 *   imports: [NestLensModule.forRoot({ config: { enabled: true, spanGroups: 'all', metricsEnabled: false },
 *     telemetry: { spanProcessors: [captured.spanProcessor] } })],
 * }).compile();
 */
export function captureSpans(): CapturedSpans {
  const exporter = new InMemorySpanExporter();
  return {
    spanProcessor: new SimpleSpanProcessor(exporter),
    spans: () => exporter.getFinishedSpans(),
    named: (name) => exporter.getFinishedSpans().filter((span) => span.name === name),
    clear: () => exporter.reset(),
  };
}
