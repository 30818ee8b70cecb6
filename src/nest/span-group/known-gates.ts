import { processState } from '../../core/state/process-state.js';
import { type GateLoan, type GatedMethod, gatedMethodOf, type LentGate } from './gated-method.js';

/**
 * Prototype -> the gate that its class was lent last; each gate knows the one before. So a gate is found below any foreign
 * wrapper. A mark in the metadata, as decorators leave one, is found only if the wrapper has copied it. Measured: such marks are
 * 8 % of the CPU of a boot with a thousand services. A gate may be here though its applications have closed ({@link isOver}).
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

/** Keeps a gate that is over, and forgets the one that was kept before for the same method. */
export function keepOverGate({ loan }: LentGate): void {
  for (const other of lentGatesOf(loan.prototype)) {
    if (other.loan !== loan && other.loan.key === loan.key && isOver(other.loan)) forgetLentGate(other);
  }
}

/**
 * Whether the applications that asked for a gate have closed. Such a gate is kept here if something stood over it then: a spy,
 * for example, that puts it back when it is restored.
 */
export function isOver({ borrowers }: GateLoan): boolean {
  return borrowers.size === 0;
}

/** The gates that a class was lent, the last one first. */
function* lentGatesOf(prototype: object): Iterable<LentGate> {
  for (let gate = lastLent.get(prototype); gate !== undefined; gate = gate.loan.before) yield gate;
}

/**
 * The gate that a method of this prototype was lent last, even if something else stands there since.
 *
 * @param borrower an application's {@link borrowerOf}, to get the last gate that this one uses
 */
export function lentGateAt(prototype: object, key: string | symbol, borrower?: object): LentGate | undefined {
  let gate = lastLent.get(prototype);
  while (gate !== undefined && !isLentTo(gate, key, borrower)) gate = gate.loan.before;
  return gate;
}

function isLentTo({ loan }: LentGate, key: string | symbol, borrower: object | undefined): boolean {
  return loan.key === key && (borrower === undefined ? !isOver(loan) : loan.borrowers.has(borrower));
}

/** The gate that a method of this prototype was lent last, even if it is over. */
export function lastGateAt(prototype: object, key: string | symbol): LentGate | undefined {
  let gate = lastLent.get(prototype);
  while (gate !== undefined && gate.loan.key !== key) gate = gate.loan.before;
  return gate;
}

/**
 * The lent gate whose wrapper a method is, even if the gate is over.
 *
 * @param start the prototype that has or inherits the method
 */
export function lentGateWith(start: object, key: string | symbol, wrapper: unknown): LentGate | undefined {
  for (let at: object | null = start; at !== null; at = Object.getPrototypeOf(at) as object | null) {
    for (const gate of lentGatesOf(at)) if (gate.loan.key === key && gate.wrapper === wrapper) return gate;
  }
  return undefined;
}

/**
 * The lent gate of a method.
 *
 * @param start the class or prototype that has or inherits the method
 */
export function lentGateOf(start: object, key: string | symbol, method: object): LentGate | undefined {
  for (let at: object | null = start; at !== null; at = Object.getPrototypeOf(at) as object | null) {
    if (Object.getOwnPropertyDescriptor(at, key)?.value === method) return lentGateAt(at, key);
  }
  return undefined;
}

/**
 * The gate of a method: that of a decorator, or a lent one.
 *
 * @param owner the prototype, or the class, that has the method
 * @param borrower as for {@link lentGateAt}
 */
export function gateAt(
  owner: object,
  key: string | symbol,
  method: object,
  borrower?: object,
): GatedMethod | undefined {
  return gatedMethodOf(method) ?? lentGateAt(owner, key, borrower);
}

/** The gate of a handler. Nest gives an interceptor the function and not its name. */
export function gateOfHandler(handler: object, Class: object): GatedMethod | undefined {
  const decorated = gatedMethodOf(handler);
  if (decorated !== undefined) return decorated;
  const { prototype } = Class as { prototype?: object | null };
  for (let at = prototype ?? null; at !== null; at = Object.getPrototypeOf(at) as object | null) {
    const gates = [...lentGatesOf(at)].filter(({ loan }) => !isOver(loan));
    const found = gates.find(({ wrapper }) => wrapper === handler) ?? gates.find(isBelow(at, handler));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Whether a method stands where a gate was lent. */
function isBelow(prototype: object, method: object): (gate: LentGate) => boolean {
  return ({ loan }) => Object.getOwnPropertyDescriptor(prototype, loan.key)?.value === method;
}
