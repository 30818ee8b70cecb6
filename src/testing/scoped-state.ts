import { processState } from '../core/state/process-state.js';
import type { ProcessState, SpanGate } from '../core/state/state-shape.js';

/**
 * What stays one for the process: what runs in it, and what applications that are older than a testbed have left for their
 * handlers. Every other field is a testbed's own, one that is new in `ProcessState` too.
 */
const SHARED: ReadonlySet<string> = new Set<keyof ProcessState>([
  'protocol',
  'version',
  'gates',
  'inFlight',
  'routeSources',
  'routesEpoch',
  'early',
  'foreignReported',
]);

/**
 * Has `processState` answer for the testbed that the running code belongs to. What was there before isn't touched, so there
 * is nothing to put back but the fields themselves.
 *
 * @param current the state of that testbed; there is always one until the restore
 * @returns restores the fields
 */
export function scopeState(current: () => ProcessState): () => void {
  const { open, gates } = processState;
  const own = Object.keys(processState).filter((key) => !SHARED.has(key) && key !== 'open');
  const before = Object.getOwnPropertyDescriptors(processState) as Record<string, PropertyDescriptor>;
  for (const key of own) {
    Object.defineProperty(processState, key, {
      configurable: true,
      enumerable: true,
      get: () => Reflect.get(current(), key) as unknown,
      set: (value: unknown) => void Reflect.set(current(), key, value),
    });
  }
  const restoreOpen = redirectSet(open, () => current().open);
  const restoreGates = redirectGates(gates, open);
  return () => {
    for (const key of own) Object.defineProperty(processState, key, before[key]!);
    restoreOpen();
    restoreGates();
  };
}

/** Sites hold the set itself, so it is the set that has to ask another one. */
function redirectSet(set: Set<string>, target: () => Set<string>): () => void {
  for (const key of Reflect.ownKeys(Set.prototype)) {
    if (key === 'constructor' || key === Symbol.toStringTag) continue;
    Object.defineProperty(set, key, {
      configurable: true,
      get() {
        const asked = target();
        const member = Reflect.get(asked, key) as unknown;
        return typeof member === 'function' ? (member.bind(asked) as unknown) : member;
      },
    });
  }
  return () => {
    for (const key of Reflect.ownKeys(set)) Reflect.deleteProperty(set, key);
  };
}

/** Sites hold the gates, too: each then asks the set of open ones, and so do those that are made meanwhile. */
function redirectGates(gates: Map<string, SpanGate>, open: ReadonlySet<string>): () => void {
  const redirect = (gate: SpanGate): void => {
    const get = (): boolean => open.has(gate.name);
    // Whoever switches a group writes to both; the set is the one that is read.
    Object.defineProperty(gate, 'enabled', {
      get,
      set: () => undefined,
      configurable: true,
      enumerable: true,
    });
  };
  for (const gate of gates.values()) redirect(gate);
  gates.set = (name, gate) => {
    redirect(gate);
    return Map.prototype.set.call(gates, name, gate) as typeof gates;
  };
  return () => {
    Reflect.deleteProperty(gates, 'set');
    for (const gate of gates.values()) {
      const value = open.has(gate.name);
      Object.defineProperty(gate, 'enabled', { value, writable: true, configurable: true, enumerable: true });
    }
  };
}
