import type { KeptSpan } from '../state/recent-traces-state.js';

/**
 * Spans in reading order: each is followed by its children, in the order of their starts. A span whose parent isn't in the
 * list is at the top level.
 *
 * @param startOf milliseconds
 */
export function inTreeOrder(spans: readonly KeptSpan[], startOf: (span: KeptSpan) => number): KeptSpan[] {
  const byId = new Map(spans.map((span) => [span.spanContext().spanId, span]));
  const childrenOf = new Map<KeptSpan | undefined, KeptSpan[]>();
  for (const span of spans) {
    const parent = byId.get(span.parentSpanContext?.spanId ?? '');
    const siblings = childrenOf.get(parent);
    if (siblings === undefined) childrenOf.set(parent, [span]);
    else siblings.push(span);
  }
  const ordered: KeptSpan[] = [];
  // Without recursion, because a trace can be a thousand spans deep.
  const waiting = [...spansOf(undefined)];
  while (waiting.length > 0) {
    const span = waiting.pop()!;
    ordered.push(span);
    waiting.push(...spansOf(span));
  }
  return ordered;

  /** The last one first. */
  function spansOf(parent: KeptSpan | undefined): KeptSpan[] {
    return (childrenOf.get(parent) ?? []).sort((a, b) => startOf(a) - startOf(b)).reverse();
  }
}
