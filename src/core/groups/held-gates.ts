import { processState } from '../state/process-state.js';
import { isAdmitted } from './admission.js';

/**
 * The only place that opens and closes gates. A gate is open while its group is on, while something holds it open, and while
 * an application counts the calls before its set-up.
 */
export function openGate(group: string): void {
  const { enabled, open, heldOpen, gates } = processState;
  const isOpen = enabled.has(group) || heldOpen.has(group);
  if (isOpen) open.add(group);
  else open.delete(group);
  const gate = gates.get(group);
  if (gate !== undefined) gate.enabled = isOpen || processState.missedCalls !== undefined;
}

/**
 * Holds gates open for another reason than the spec: to count calls, or for one request. A site behind an open gate then asks
 * `isAdmitted`. Sites behind closed gates notice nothing.
 *
 * @returns a function that lets go of the gates; a second call does nothing
 */
export function holdGatesOpen(groups: Iterable<string>): () => void {
  const { heldOpen } = processState;
  const held = new Set(groups);
  for (const group of held) {
    heldOpen.set(group, (heldOpen.get(group) ?? 0) + 1);
    openGate(group);
  }
  noteAdmission();
  return () => {
    for (const group of held) {
      const others = (heldOpen.get(group) ?? 1) - 1;
      if (others > 0) heldOpen.set(group, others);
      else heldOpen.delete(group);
      openGate(group);
    }
    held.clear();
    noteAdmission();
  };
}

/** Called whenever something begins or ends to hold gates open for another reason than the spec. */
export function noteAdmission(): void {
  const { heldOpen, missedCalls } = processState;
  processState.isAdmitted = heldOpen.size > 0 || missedCalls !== undefined ? isAdmitted : undefined;
}
