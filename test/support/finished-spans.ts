import { expect } from 'vitest';
import { SpanStatusCode, trace } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { type LensAppBuilder, parentIdOf, theSpan, until } from './lens-app.js';
import type { Binding } from './in-orders.js';
import type { ResultKind } from './result-kinds.js';
import { MARKER, type Moment, type Timeline } from './timeline.js';

/** The spans that have ended, exported; waits for open ones, but not for ever. */
export async function finishedSpans({ exporter, tracker }: LensAppBuilder): Promise<ReadableSpan[]> {
  await until(() => tracker.open.size === 0);
  const provider = trace.getTracerProvider() as { getDelegate?(): { forceFlush?(): Promise<void> } };
  await provider.getDelegate?.().forceFlush?.();
  return exporter.spans;
}

export function markersOf(spans: readonly ReadableSpan[]): ReadableSpan[] {
  return spans.filter((span) => span.name === MARKER);
}

/** Expects one span of a handler, whose life is that of the kind of result, with the markers inside below it. */
export async function expectSpanLife(
  builder: LensAppBuilder,
  timeline: Timeline,
  { name, kind, binding }: { name: string; kind: ResultKind; binding: Binding | 'job' },
): Promise<ReadableSpan> {
  const spans = await finishedSpans(builder);
  const span = theSpan(spans, name);
  const { ends, status } = kind;

  expect([...builder.tracker.open].map((open) => open.name)).toEqual([]);
  expect(spans.filter((other) => other !== span && other.name !== MARKER)).toEqual([]);
  expect(timeline.spanStarts).toEqual(SPAN_STARTS[binding]);
  expect(timeline.spanEnds).toBe(ends);
  expect(span.status.code).toBe(status === 'error' ? SpanStatusCode.ERROR : SpanStatusCode.UNSET);
  expect(span.attributes['nestlens.cancelled']).toBe(kind.cancelled);
  expect(exceptionsOf(span)).toEqual(kind.exception === undefined ? [] : [kind.exception]);
  for (const marker of markersOf(spans)) expect(parentIdOf(marker)).toBe(span.spanContext().spanId);
  return span;
}

/** The moments around the start of the span. */
export const SPAN_STARTS: Readonly<Record<Binding | 'job', readonly (Moment | undefined)[]>> = {
  plain: [],
  decorated: ['pipes run', 'called'],
  intercepted: ['guards run', 'pipes run'],
  job: [undefined, 'called'],
};

function exceptionsOf(span: ReadableSpan): unknown[] {
  return span.events
    .filter((event) => event.name === 'exception')
    .map((event) => event.attributes?.['exception.message']);
}
