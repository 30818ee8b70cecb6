import { processState } from '../state/process-state.js';

/** Counts a call that came before the set-up, while `processState.missedCalls` is set. */
export function countMissedCall(site: string, group: string): void {
  const missed = processState.missedCalls?.get(site);
  if (missed === undefined) processState.missedCalls?.set(site, { group, count: 1 });
  else missed.count++;
}
