import type { SpanProcessorLike } from '../core/telemetry/setup-options.js';
import type { CapturedSpan } from './captured-span.js';

/** Spans that a test caught. */
export interface CapturedSpans {
  /** Pass it to `telemetry.spanProcessors`, or to an SDK of your own. */
  readonly spanProcessor: SpanProcessorLike;
  /** The spans that have ended, in that order. */
  spans(): CapturedSpan[];
  /** Those of one name. */
  named(name: string): CapturedSpan[];
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
  const ended: CapturedSpan[] = [];
  // The SDK's own simple processor hands a span on only when the resource is complete, some turns later.
  const spanProcessor = {
    onStart: () => undefined,
    onEnd: (span: CapturedSpan) => void ended.push(span),
    forceFlush: () => Promise.resolve(),
    shutdown: () => Promise.resolve(),
  };
  return {
    spanProcessor,
    spans: () => [...ended],
    named: (name) => ended.filter((span) => span.name === name),
    clear: () => void ended.splice(0),
  };
}
