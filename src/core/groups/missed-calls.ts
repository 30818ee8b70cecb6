import { processState } from '../state/process-state.js';
import { noteAdmission, openGate } from './held-gates.js';

/** Calls of one site that came too early. */
export interface MissedCalls {
  readonly site: string;
  readonly group: string;
  readonly count: number;
}

/**
 * While an application boots, calls of sites have no span yet, and are counted: every gate is open, and behind it the call is
 * counted and goes on. So counting costs nothing when it is over, and a closed gate is what it always is.
 */
export function beginCountingCalls(): void {
  if (processState.missedCalls !== undefined) return;
  processState.missedCalls = new Map();
  for (const group of processState.gates.keys()) openGate(group);
  processState.areOffCallsNoted = true;
  noteAdmission();
}

/** Called behind an open gate, while `processState.missedCalls` is there. */
export function countMissedCall(site: string, group: string): void {
  const missed = processState.missedCalls?.get(site);
  if (missed === undefined) processState.missedCalls?.set(site, { group, count: 1 });
  else missed.count++;
}

/** Closes the gates, and says what was missed; the busiest site first. */
export function endCountingCalls(): MissedCalls[] {
  const { missedCalls, gates } = processState;
  if (missedCalls === undefined) return [];
  processState.missedCalls = undefined;
  for (const group of gates.keys()) openGate(group);
  processState.areOffCallsNoted = processState.setUp;
  noteAdmission();
  const missed = [...missedCalls].map(([site, { group, count }]) => ({ site, group, count }));
  return missed.sort((a, b) => b.count - a.count);
}
