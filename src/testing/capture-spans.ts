import type { SpanProcessorLike } from '../core/telemetry/setup-options.js';
import type { CapturedSpan } from './captured-span.js';

/** Spans that a test has caught. */
export interface CapturedSpans {
  /** Pass it to `telemetry.spanProcessors`, or to an SDK of your own. */
  readonly spanProcessor: SpanProcessorLike;
  /** The ended spans, in the order of their ends. */
  spans(): CapturedSpan[];
  /** Those of one name. */
  named(name: string): CapturedSpan[];
  /** Forgets the spans so far. */
  clear(): void;
}

/**
 * Catches spans in memory, for tests of your application. It catches each span as it ends, so there is nothing to flush. The
 * spans stay when the application is closed.
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
  // The SDK's own simple processor passes a span on when the resource is complete, some turns later.
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
