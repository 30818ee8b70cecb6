import { processState } from '../../core/state/process-state.js';
import { type GatedMethod, gatedMethodOf, type LentGate } from './gated-method.js';

/**
 * Prototype -> the gate that its class was lent last; each knows the one before. Metadata would show a foreign wrapper above a
 * gate, if the wrapper copies metadata; this shows any. Measured: metadata on each wrapper takes a tenth of what `autoGroups`
 * adds to a boot, because Nest copies it once more for each route.
 */
const lastLent = processState.lentGates as WeakMap<object, LentGate>;

export function noteLentGate(gate: LentGate): void {
  const { loan } = gate;
  loan.before = lastLent.get(loan.prototype);
  lastLent.set(loan.prototype, gate);
}

export function forgetLentGate({ loan }: LentGate): void {
  let after: LentGate | undefined;
  for (const gate of lentGatesOf(loan.prototype)) {
    if (gate.loan === loan) break;
    after = gate;
  }
  if (after !== undefined) after.loan.before = loan.before;
  else if (loan.before !== undefined) lastLent.set(loan.prototype, loan.before);
  else lastLent.delete(loan.prototype);
}

/** The gates that a class was lent, the last one first. */
function* lentGatesOf(prototype: object): Iterable<LentGate> {
  for (let gate = lastLent.get(prototype); gate !== undefined; gate = gate.loan.before) yield gate;
}

/**
 * The gate that a method of this prototype was lent, even if something else stands there since. A later gate of a method stands
 * in for an earlier one.
 */
export function lentGateAt(prototype: object, key: string | symbol): LentGate | undefined {
  let gate = lastLent.get(prototype);
  while (gate !== undefined && gate.loan.key !== key) gate = gate.loan.before;
  return gate;
}

/**
 * The gate of a method: that of a decorator, or a lent one.
 *
 * @param owner the prototype, or the class, that has the method
 */
export function gateAt(owner: object, key: string | symbol, method: object): GatedMethod | undefined {
  return gatedMethodOf(method) ?? lentGateAt(owner, key);
}

/** The same for a method that only its class is known of. */
export function gateIn(Class: object, method: object): GatedMethod | undefined {
  const decorated = gatedMethodOf(method);
  if (decorated !== undefined) return decorated;
  const { prototype } = Class as { prototype?: object | null };
  for (let at = prototype ?? null; at !== null; at = Object.getPrototypeOf(at) as object | null) {
    const owner = at;
    const gates = [...lentGatesOf(owner)];
    const isThere = ({ loan }: LentGate): boolean =>
      Object.getOwnPropertyDescriptor(owner, loan.key)?.value === method;
    const found = gates.find(({ wrapper }) => wrapper === method) ?? gates.find(isThere);
    if (found !== undefined) return found;
  }
  return undefined;
}
