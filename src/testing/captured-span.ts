import type { Attributes, HrTime, Link, SpanContext, SpanKind, SpanStatus } from '@opentelemetry/api';

/**
 * A span that has ended: `ReadableSpan` of SDK 2.x and SDK 3.x. The type is written out here, because the two SDKs have it in
 * packages of different names, and your test shouldn't need either for a type.
 */
export interface CapturedSpan {
  /** What the span is called. */
  readonly name: string;
  /** Its role in the trace. */
  readonly kind: SpanKind;
  /** Its trace id and span id. */
  readonly spanContext: () => SpanContext;
  /** Its parent. Undefined for a root span. */
  readonly parentSpanContext?: SpanContext;
  /** When it started: seconds and nanoseconds since the epoch. */
  readonly startTime: HrTime;
  /** When it ended: seconds and nanoseconds since the epoch. */
  readonly endTime: HrTime;
  /** How long it took: seconds and nanoseconds. */
  readonly duration: HrTime;
  /** True, because a span is caught when it ends. */
  readonly ended: boolean;
  /** Unset, or an error with its message. */
  readonly status: SpanStatus;
  /** `nestlens.group` among them, unless it was made by `withSpan` or by other code. */
  readonly attributes: Attributes;
  /** The events during the span, with times as above; exceptions are among them. */
  readonly events: readonly {
    readonly name: string;
    readonly time: HrTime;
    readonly attributes?: Attributes;
  }[];
  /** Related spans of other traces. */
  readonly links: readonly Link[];
  /** The service and the process that made it. */
  readonly resource: { readonly attributes: Readonly<Record<string, unknown>> };
  /** The name of its tracer: `nest-lens`, unless the site has its own tracer. */
  readonly instrumentationScope: { readonly name: string; readonly version?: string };
}
