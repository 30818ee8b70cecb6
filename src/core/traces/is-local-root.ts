import type { KeptSpan } from '../state/recent-traces-state.js';

/** Whether a span is the first of its trace in this process: it has no parent, or one in another process. */
export function isLocalRoot({ parentSpanContext: parent }: Pick<KeptSpan, 'parentSpanContext'>): boolean {
  return parent === undefined || parent.isRemote === true;
}
