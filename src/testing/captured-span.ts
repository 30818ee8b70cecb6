import type { Attributes, HrTime, Link, SpanContext, SpanKind, SpanStatus } from '@opentelemetry/api';

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
