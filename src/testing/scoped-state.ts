import { processState } from '../core/state/process-state.js';
import type { ProcessState, SpanGate } from '../core/state/state-shape.js';

/**
 * The fields that all testbeds share with the process: things that run in it, and data that applications from before the
 * testbed need for their handlers. Each testbed has its own value of every other field, including fields that are new in
 * `ProcessState`.
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
 * Makes `processState` answer for the testbed of the running code. The earlier values aren't touched, so only the fields
 * themselves are restored.
 *
 * @param current returns the state of that testbed; there is always one until the restore
 * @returns a function that restores the fields
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

/** Sites keep the set itself, so its methods have to use another set. */
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

/** Sites keep the gates, too. Each gate, also one that is made later, then asks the set of open ones. */
function redirectGates(gates: Map<string, SpanGate>, open: ReadonlySet<string>): () => void {
  const redirect = (gate: SpanGate): void => {
    const get = (): boolean => open.has(gate.name);
    // Code that switches a group writes to both; the set is the one that is read.
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
