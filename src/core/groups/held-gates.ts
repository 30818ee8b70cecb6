import { processState } from '../state/process-state.js';

/**
 * The only place that opens and closes gates. A gate is open while its group is on, while somebody holds it open, and while calls
 * that come before the set-up are counted.
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
 * Holds gates open for another reason than the spec: to count calls, or for one request. Sites whose gate is closed stay as they
 * are; behind an open one they ask `isAdmitted`.
 *
 * @returns lets go; called again it does nothing
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

/** To be called when what else holds gates open than the spec has changed. */
export function noteAdmission(): void {
  processState.isAdmissionAsked =
    processState.heldOpen.size > 0 ||
    processState.missedCalls !== undefined ||
    processState.preview !== undefined;
}
