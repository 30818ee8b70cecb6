import { processState } from '../state/process-state.js';
import { holdGatesOpen } from './held-gates.js';

/** Counts the spans that groups would make, until it ends. */
export interface SpanPreview {
  /** Group -> site -> the number of calls so far. */
  readonly counts: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** Settles when the preview has ended, for whatever reason. */
  readonly ended: Promise<void>;
  /** Ends the preview and lets go of the gates. A second call does nothing. */
  end(): void;
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
  processState.preview = counts;
  const letGo = holdGatesOpen(counts.keys());
  let settle!: () => void;
  const ended = new Promise<void>((resolve) => (settle = resolve));
  const end = (): void => {
    if (processState.preview === counts) {
      processState.preview = undefined;
      processState.endPreview = undefined;
    }
    letGo();
    settle();
  };
  processState.endPreview = end;
  return { counts, ended, end };
}
