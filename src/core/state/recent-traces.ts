import type { HrTime, SpanContext, SpanStatus } from '@opentelemetry/api';

/** An event of a span that has ended, as the SDK keeps it. */
export interface KeptEvent {
  readonly name: string;
  readonly time: HrTime;
  readonly attributes?: Readonly<Record<string, unknown>>;
}

/** The part of a span that has ended which a person looks at: what SDK 2.x and 3.x both call `ReadableSpan`. */
export interface KeptSpan {
  readonly name: string;
  /** The number of the API's `SpanKind`. */
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

/** The spans of one trace that have ended in this process. */
export interface RecentTrace {
  /** In the order in which they ended. */
  readonly spans: KeptSpan[];
  /** How many have ended, those included that there was no room for. */
  count: number;
  /** Whether one of them has failed. */
  hasError: boolean;
  /** What they take, about. */
  bytes: number;
}

/** The last traces of this process, while somebody wants to see them. */
export interface RecentTraces {
  /** How many finished ones are kept. */
  limit: number;
  /** The routes of NestLens's own endpoint: whoever looks at traces isn't shown that they looked. */
  readonly ownRoutes: Set<string>;
  /** By trace id, in the order in which they finished. */
  readonly finished: Map<string, RecentTrace>;
  /** Those whose local root has not ended, in the order in which their first span did. */
  readonly open: Map<string, RecentTrace>;
  /** What all of them take, about. */
  bytes: number;
  /** Takes away what hands the spans over. */
  readonly stop: () => void;
}
