import { processState } from '../state/process-state.js';
import type { RunningPreview } from '../state/state-shape.js';
import { holdGatesOpen } from './held-gates.js';

/** Counts the spans that groups would make, until it ends. */
export interface SpanPreview extends RunningPreview {
  /** Settles when the preview has ended, for whatever reason. */
  readonly ended: Promise<void>;
}

/**
 * Begins to count the calls of these groups' sites, whether the groups are on or off. It holds their gates open, and sites do
 * the counting behind their gates, so sites cost nothing more while no preview runs. A shutdown of telemetry ends the
 * preview.
 *
 * @param groups as they are registered
 * @returns undefined while another preview runs; a process has one at most
 */
export function beginPreview(groups: Iterable<string>): SpanPreview | undefined {
  if (processState.preview !== undefined) return undefined;
  const counts = new Map([...groups].map((group) => [group, new Map<string, number>()]));
  const letGo = holdGatesOpen(counts.keys());
  let settle!: () => void;
  const ended = new Promise<void>((resolve) => (settle = resolve));
  const preview: SpanPreview = {
    counts,
    ended,
    end() {
      if (processState.preview === preview) processState.preview = undefined;
      letGo();
      settle();
    },
  };
  processState.preview = preview;
  return preview;
}
