import type { ReadableSpan, SpanProcessor } from '@opentelemetry/sdk-trace-base';

/** Spans that a test caught. */
export interface CapturedSpans {
  /** Pass it to `telemetry.spanProcessors`. */
  readonly spanProcessor: SpanProcessor;
  /** The spans that have ended, in that order. */
  spans(): ReadableSpan[];
  /** Those of one name. */
  named(name: string): ReadableSpan[];
  /** Forgets the spans so far. */
  clear(): void;
}

/**
 * Catches spans in memory, for tests of your application: each as it ends, so that nothing has to be flushed. What was
 * caught stays when the application is closed.
 *
 * @example
 * const captured = captureSpans();
 * const app = await Test.createTestingModule({
 *   imports: [NestLensModule.forRoot({ config: { enabled: true, spanGroups: 'all', metricsEnabled: false },
 *     telemetry: { spanProcessors: [captured.spanProcessor] } })],
 * }).compile();
 */
export function captureSpans(): CapturedSpans {
  const ended: ReadableSpan[] = [];
  return {
    // The SDK's own simple processor hands a span on only when the resource is complete, some turns later.
    spanProcessor: {
      onStart: () => undefined,
      onEnd: (span) => void ended.push(span),
      forceFlush: () => Promise.resolve(),
      shutdown: () => Promise.resolve(),
    },
    spans: () => [...ended],
    named: (name) => ended.filter((span) => span.name === name),
    clear: () => void ended.splice(0),
  };
}
