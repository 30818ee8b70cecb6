import { processState } from '../state/process-state.js';
import type { KeptSpan, RecentTrace } from '../state/recent-traces-state.js';
import { groupOfSpan } from '../instrumentations/group-of-span.js';
import { boundedText } from './bounded-attributes.js';
import { isLocalRoot } from './is-local-root.js';
import { preciseStarts } from './precise-start.js';
import { isoTime, microseconds, milliseconds } from './span-time.js';
import { inTreeOrder } from './tree-order.js';
import { visibleAttributes } from './visible-attributes.js';

/** One of the last traces, in the form of `GET /lens/traces`. */
export interface RecentTraceSummary {
  traceId: string;
  /** The name of its first span in this process. */
  name: string;
  /** The start of that span, in ISO 8601. */
  startedAt: string;
  /** The duration of that span, in milliseconds. */
  durationMs: number;
  /** Whether one of its spans is an error. */
  error: boolean;
  /** The number of its ended spans. */
  spans: number;
}

/** One span of a trace, in the form of `GET /lens/traces/:traceId`. */
export interface RecentSpan {
  spanId: string;
  /** Null if it has no parent. A parent that isn't in the list is in another process, or has not ended. */
  parentSpanId: string | null;
  name: string;
  /** Null if the span is in no group. */
  group: string | null;
  kind: 'internal' | 'server' | 'client' | 'producer' | 'consumer';
  /** In ISO 8601, with microseconds. */
  startedAt: string;
  durationMs: number;
  status: { code: 'unset' | 'ok' | 'error'; message?: string };
  /** Secrets are redacted by the words of `safeSetSpanAttributes`; long texts are cut. */
  attributes: Record<string, unknown>;
  /** Exceptions among them, each with `exception.type`, `exception.message` and `exception.stacktrace`. */
  events: { name: string; at: string; attributes: Record<string, unknown> }[];
}

const KINDS = ['internal', 'server', 'client', 'producer', 'consumer'] as const;
const STATUS_CODES = ['unset', 'ok', 'error'] as const;

/** The last finished traces of this process, newest first; empty if no application keeps traces. */
export function listRecentTraces(): RecentTraceSummary[] {
  const { finished = new Map<string, RecentTrace>() } = processState.recentTraces ?? {};
  const traces = [...finished].map(([traceId, trace]) => {
    const root = firstRoot(trace);
    return { traceId, trace, root, start: root === undefined ? 0 : milliseconds(root.startTime) };
  });
  // If two started together, the one that finished later comes first.
  traces.reverse().sort((a, b) => b.start - a.start);
  return traces.map(({ traceId, trace, root, start }) => ({
    traceId,
    name: boundedText(root?.name ?? ''),
    startedAt: new Date(start).toISOString(),
    durationMs: root === undefined ? 0 : microseconds(milliseconds(root.duration)),
    error: trace.hasError,
    spans: trace.count,
  }));
}

/** The spans of one trace, each followed by its children; undefined if it isn't kept. */
export function recentTrace(traceId: string): { traceId: string; spans: RecentSpan[] } | undefined {
  const trace = processState.recentTraces?.finished.get(traceId);
  if (trace === undefined) return undefined;
  const startOfSpan = preciseStarts(firstRoot(trace));
  const spans = inTreeOrder(trace.spans, startOfSpan);
  return { traceId, spans: spans.map((span) => spanReport(span, startOfSpan(span))) };
}

/** The local root that started first: one trace may enter this process several times. */
function firstRoot({ spans }: RecentTrace): KeptSpan | undefined {
  let first: KeptSpan | undefined;
  for (const span of spans) {
    if (!isLocalRoot(span)) continue;
    if (first === undefined || milliseconds(span.startTime) < milliseconds(first.startTime)) first = span;
  }
  return first;
}

function spanReport(span: KeptSpan, start: number): RecentSpan {
  const { code, message } = span.status;
  return {
    spanId: span.spanContext().spanId,
    parentSpanId: span.parentSpanContext?.spanId ?? null,
    name: boundedText(span.name),
    group: groupOfSpan(span) ?? null,
    kind: KINDS[span.kind] ?? 'internal',
    startedAt: isoTime(start),
    durationMs: microseconds(milliseconds(span.duration)),
    status: {
      code: STATUS_CODES[code] ?? 'unset',
      ...(message === undefined ? {} : { message: boundedText(message) }),
    },
    attributes: visibleAttributes(span.attributes),
    events: span.events.map(({ name, time, attributes = {} }) => ({
      name: boundedText(name),
      at: isoTime(milliseconds(time)),
      attributes: visibleAttributes(attributes),
    })),
  };
}
