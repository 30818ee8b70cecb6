import type { HrTime, SpanContext, SpanStatus } from '@opentelemetry/api';

/** An event of an ended span, in the SDK's form. */
export interface KeptEvent {
  readonly name: string;
  readonly time: HrTime;
  readonly attributes?: Readonly<Record<string, unknown>>;
}

/** The fields of an ended span that people look at; `ReadableSpan` of SDK 2.x and 3.x has them all. */
export interface KeptSpan {
  readonly name: string;
  /** A number of the API's `SpanKind`. */
  readonly kind: number;
  spanContext(): SpanContext;
  readonly parentSpanContext?: SpanContext | undefined;
  readonly startTime: HrTime;
  readonly duration: HrTime;
  readonly status: SpanStatus;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly events: readonly KeptEvent[];
  readonly instrumentationScope?: { readonly name: string } | undefined;
}

/** The spans of one trace that ended in this process. */
export interface RecentTrace {
  /** In the order of their ends. */
  readonly spans: KeptSpan[];
  /** How many spans have ended, including those that were dropped for lack of room. */
  count: number;
  /** Whether one of them is an error. */
  hasError: boolean;
  /** Their approximate size in memory, in bytes. */
  bytes: number;
}

/** The last traces of this process, kept while an application asks for them. */
export interface RecentTraces {
  /** The largest number of finished traces to keep. */
  limit: number;
  /** The routes of NestLens's own endpoint. Their requests aren't kept, so that looking at traces adds none. */
  readonly ownRoutes: Set<string>;
  /** By trace id, in the order in which they finished. */
  readonly finished: Map<string, RecentTrace>;
  /** Traces whose local root has not ended, in the order of the end of their first span. */
  readonly open: Map<string, RecentTrace>;
  /** The memory that all of them take, roughly, in bytes. */
  bytes: number;
  /** Stops the hook that passes ended spans on. */
  readonly stop: () => void;
}
