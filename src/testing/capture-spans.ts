import type { Attributes, HrTime, Link, SpanContext, SpanKind, SpanStatus } from '@opentelemetry/api';
import type { SpanProcessorLike } from '../core/telemetry/setup-options.js';

/**
 * A span that has ended: what SDK 2.x and SDK 3.x both call `ReadableSpan`. Written out here, since they call the package
 * that has it by different names, and a test of yours shouldn't need either for a type.
 */
export interface CapturedSpan {
  /** What the span is called. */
  readonly name: string;
  /** Its role in the trace. */
  readonly kind: SpanKind;
  /** Its trace id and span id. */
  readonly spanContext: () => SpanContext;
  /** The span that it is a child of. Undefined for a root span. */
  readonly parentSpanContext?: SpanContext;
  /** When it started: seconds and nanoseconds since the epoch. */
  readonly startTime: HrTime;
  /** When it ended: seconds and nanoseconds since the epoch. */
  readonly endTime: HrTime;
  /** How long it took: seconds and nanoseconds. */
  readonly duration: HrTime;
  /** True: a span is caught when it ends. */
  readonly ended: boolean;
  /** Unset, or an error with its message. */
  readonly status: SpanStatus;
  /** `nestlens.group` among them, unless it was made by `withSpan` or by other code. */
  readonly attributes: Attributes;
  /** What happened during it, with times as above; exceptions among them. */
  readonly events: readonly {
    readonly name: string;
    readonly time: HrTime;
    readonly attributes?: Attributes;
  }[];
  /** Spans of other traces that it has to do with. */
  readonly links: readonly Link[];
  /** What made it: the service, the process. */
  readonly resource: { readonly attributes: Readonly<Record<string, unknown>> };
  /** The tracer that made it; `nest-lens`, unless the site has one of its own. */
  readonly instrumentationScope: { readonly name: string; readonly version?: string };
}

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
