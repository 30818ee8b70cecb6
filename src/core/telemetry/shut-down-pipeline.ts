import { truncateThen } from '../spans/in-flight-span.js';
import type { Pipeline } from '../state/telemetry-state.js';
import { settleWithin, timeLimitOf } from './with-timeout.js';

/**
 * If the flush of spans takes longer than a quarter of the limit, or than this many milliseconds, metrics are flushed beside
 * them. They aren't flushed at once, because the shutdown exports metrics, too, and nearly always comes earlier.
 */
const METRICS_AFTER_MS = 1_000;

/**
 * Ends the open spans, exports everything that waits, and shuts the pipeline down. Settles within the limit and never
 * rejects; a failure is one warning.
 *
 * @param timeoutMs milliseconds, as given
 * @param limitMs the application's limit, if `timeoutMs` is only the rest of it; the warning names it
 */
export async function shutDownPipeline(
  pipeline: Pipeline,
  timeoutMs: number,
  limitMs = timeoutMs,
): Promise<void> {
  const steps = [
    // Spans first, because shutting a provider down can lose the spans that a processor is sending.
    () => truncateThen(() => flushSpans(pipeline, timeLimitOf(timeoutMs))),
    // Spans are ended again, because the application goes on during the flush. Spans that start from here on are lost.
    () => truncateThen(() => pipeline.shutdown()),
  ];
  await settleWithin(timeoutMs, steps, limitMs);
  pipeline.release();
}

/** A collector of spans that doesn't answer must not cost the metrics: they would go out when the process is about to end. */
async function flushSpans(pipeline: Pipeline, limitMs: number): Promise<void> {
  const flushMetrics = (): void => {
    // The shutdown reports a failure, because it exports them again.
    pipeline.flushMetrics().catch(() => undefined);
  };
  const timer = setTimeout(flushMetrics, Math.min(limitMs / 4, METRICS_AFTER_MS));
  try {
    await pipeline.flushSpans();
  } finally {
    clearTimeout(timer);
  }
}
