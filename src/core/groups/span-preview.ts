import { processState } from '../state/process-state.js';
import { holdGatesOpen } from './held-gates.js';

/** Counts the spans that groups would make, until it ends. */
export interface SpanPreview {
  /** Group -> site -> how many, so far. */
  readonly counts: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** Settles when it has ended, whoever has ended it. */
  readonly ended: Promise<void>;
  /** Lets the gates go; called again it does nothing. */
  end(): void;
}

/**
 * Begins to count the calls of these groups' sites, on or off. Their gates are held open meanwhile, and the site asks behind its
 * gate, so nothing is added to what a site does while there is no preview. A shutdown of telemetry ends it.
 *
 * @param groups as they are registered
 * @returns undefined while another one is under way: there is one in a process
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
