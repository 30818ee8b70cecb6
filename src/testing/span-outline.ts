import { SpanStatusCode } from '@opentelemetry/api';
import type { CapturedSpan } from './captured-span.js';

/**
 * Traces as text for an assertion: a line a span, below its parent, in the order of their starts. It has no ids and times, so
 * that it is the same in each run.
 *
 * @param spans in the order of their starts; a span whose parent isn't in the list stands at the margin
 */
export function outlineSpans(spans: readonly CapturedSpan[]): string {
  const known = new Set(spans.map((span) => span.spanContext().spanId));
  const parentOf = ({ parentSpanContext: parent }: CapturedSpan): string | undefined =>
    parent !== undefined && known.has(parent.spanId) ? parent.spanId : undefined;
  const linesBelow = (parent: string | undefined, indent: string): string[] =>
    spans
      .filter((span) => parentOf(span) === parent)
      .flatMap((span) => [
        `${indent}${describeSpan(span)}`,
        ...linesBelow(span.spanContext().spanId, `${indent}  `),
      ]);
  return linesBelow(undefined, '').join('\n');
}

function describeSpan({ name, attributes, status, ended }: CapturedSpan): string {
  const group = attributes['nestlens.group'];
  return [
    name,
    ...(group === undefined ? [] : [`[${String(group)}]`]),
    ...(status.code === SpanStatusCode.ERROR ? ['ERROR', ...(status.message ? [status.message] : [])] : []),
    ...(attributes['nestlens.cancelled'] === true ? ['cancelled'] : []),
    ...(ended ? [] : ['not ended']),
  ].join(' ');
}
