import type { CapturedSpan, CapturedSpans } from 'nest-lens/testing';

/** What is needed of a span to draw it; also what the console exporter prints, and what a collector is sent. */
export interface PlainSpan {
  name: string;
  spanId: string;
  parentSpanId?: string | null;
  traceId: string;
}

/** The spans so far: the SDK hands a span on as late as its resource is known, a moment after a set-up. */
export async function spansOf({ spanProcessor, spans }: CapturedSpans): Promise<CapturedSpan[]> {
  await spanProcessor.forceFlush();
  return spans();
}

export function plain(span: CapturedSpan): PlainSpan {
  const { spanId, traceId } = span.spanContext();
  return { name: span.name, spanId, traceId, parentSpanId: span.parentSpanContext?.spanId ?? null };
}

/** Names as an indented tree, as the pages show them. */
export function tree(spans: readonly PlainSpan[]): string {
  const ids = new Set(spans.map(({ spanId }) => spanId));
  const below = (parent: string | undefined, indent: string): string[] =>
    spans
      .filter(({ parentSpanId }) =>
        parent === undefined ? !ids.has(parentSpanId ?? '') : parentSpanId === parent,
      )
      .flatMap(({ name, spanId }) => [indent + name, ...below(spanId, `${indent}  `)]);
  return below(undefined, '').join('\n');
}

/** Sorted. */
export function names(spans: readonly { name: string }[]): string[] {
  return spans.map(({ name }) => name).sort();
}
