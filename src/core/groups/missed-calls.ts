import { processState } from '../state/process-state.js';
import { noteAdmission, openGate } from './held-gates.js';
import { ignoreOffCalls, lookAtOffCalls } from './off-calls.js';

/** The calls of one site before the set-up. */
export interface MissedCalls {
  readonly site: string;
  readonly group: string;
  readonly count: number;
}

/**
 * Begins to count the calls of sites while an application boots, before spans are possible. Every gate is opened; behind it
 * the call is counted and goes on. Afterwards the counting costs nothing, and closed gates cost what they always cost.
 */
export function beginCountingCalls(): void {
  if (processState.missedCalls !== undefined) return;
  processState.missedCalls = new Map();
  for (const group of processState.gates.keys()) openGate(group);
  lookAtOffCalls();
  noteAdmission();
}

/** Closes the gates and returns the missed calls, the busiest site first. */
export function endCountingCalls(): MissedCalls[] {
  const { missedCalls, gates } = processState;
  if (missedCalls === undefined) return [];
  processState.missedCalls = undefined;
  for (const group of gates.keys()) openGate(group);
  if (!processState.setUp) ignoreOffCalls();
  noteAdmission();
  const missed = [...missedCalls].map(([site, { group, count }]) => ({ site, group, count }));
  return missed.sort((a, b) => b.count - a.count);
}
