import { borrowerOf } from './borrower.js';
import { type AnyClass, ClassMethod } from './class-methods.js';
import { MethodGate, originalOf } from './gate-method.js';
import { type GateLoan, gatedMethodAmong, type LentGate } from './gated-method.js';
import type { MethodSite } from './handler-span.js';
import { inheritedMethod } from './inherited-method.js';
import {
  forgetLentGate,
  isOver,
  keepOverGate,
  lastGateAt,
  lentGateAt,
  lentGateWith,
  noteLentGate,
} from './known-gates.js';
import { noteShield, type Shield, shieldOf } from './shield.js';

/**
 * The gates that one application has asked for without a decorator on the method or its class. Several applications of a
 * process may ask for the same gate; when the last of them closes, the method is restored.
 */
export class LentGates {
  private readonly gates: LentGate[] = [];
  /** The borrowers of most gates. Measured: a set for each costs a boot 2 us a method. */
  private readonly alone: ReadonlySet<object>;
  private readonly shields: Shield[] = [];

  private readonly borrower: object;

  /** @param modules the module container of the application */
  constructor(modules: object) {
    this.borrower = borrowerOf(modules);
    this.alone = new Set([this.borrower]);
  }

  /**
   * Puts a method of a class behind a gate, until {@link takeBack}. A decorated method keeps its gate, and so does a method
   * that this application has gated already: of two groups the first counts. A class that can't be changed stays ungated.
   */
  lend(
    Class: AnyClass,
    { name: key, method, keys, owner, inherited, descriptor }: ClassMethod,
    site: Pick<MethodSite, 'group' | 'options' | 'auto'>,
  ): void {
    if (gatedMethodAmong(keys, method) !== undefined) return;
    let known = lastGateAt(owner, key);
    if (known !== undefined && isOver(known.loan)) {
      if (known.wrapper === method) {
        // A spy has put it back. Without this, each application would leave a wrapper behind.
        putBack(known);
        const restored = methodAt(Class.prototype as object, key);
        if (restored !== undefined) this.lend(Class, restored, site);
        return;
      }
      known = lentGateAt(owner, key);
    }
    if (known !== undefined) {
      // A wrapper may stand over this application's gate. A second gate above that would be a second site.
      if (lentGateAt(owner, key, this.borrower) !== undefined) return;
      if (known.wrapper === method && isSameSite(known.site, site)) {
        const { loan } = known;
        loan.borrowers = new Set([...loan.borrowers, this.borrower]);
        this.gates.push(known);
        return;
      }
    }
    const prototype = Class.prototype as object;
    const former = inherited ? undefined : descriptor;
    if (former?.configurable === false) return;
    const { group, options, auto } = site;
    const earlier = inherited || known?.wrapper !== method ? undefined : known;
    const loan: GateLoan = { borrowers: this.alone, prototype, key, former, earlier, before: undefined };
    const gate = new MethodGate(
      inherited ? inheritedMethod(prototype, key, method, keys) : method,
      { group, options, onClass: true, Class, key, auto },
      keys,
      known,
      loan,
    );
    if (!define(prototype, key, former, gate.wrapper)) return;
    noteLentGate(gate);
    this.gates.push(gate);
  }

  /** Keeps a class out of the lent gates of its base classes. */
  shield(Class: AnyClass, { name: key, method, keys, owner, inherited }: ClassMethod): void {
    const known = shieldOf(method);
    if (known !== undefined) {
      known.borrowers.add(this.borrower);
      this.shields.push(known);
      return;
    }
    if (!inherited) return;
    const gate = lentGateAt(owner, key);
    if (gate?.wrapper !== method || !gate.loan.borrowers.has(this.borrower)) return;
    const prototype = Class.prototype as object;
    const shield: Shield = {
      prototype,
      key,
      method: inheritedMethod(prototype, key, method, keys),
      borrowers: new Set([this.borrower]),
    };
    if (!define(prototype, key, undefined, shield.method)) return;
    noteShield(shield);
    this.shields.push(shield);
  }

  /** Ends the loans. Methods whose gate no other application uses are restored. */
  takeBack(): void {
    for (const shield of this.shields.splice(0)) {
      shield.borrowers.delete(this.borrower);
      if (shield.borrowers.size > 0) continue;
      const { prototype, key, method } = shield;
      if (Object.getOwnPropertyDescriptor(prototype, key)?.value === method) {
        Reflect.deleteProperty(prototype, key);
      }
    }
    for (const gate of this.gates.splice(0)) {
      const { loan } = gate;
      const others = [...loan.borrowers].filter((borrower) => borrower !== this.borrower);
      loan.borrowers = new Set(others);
      if (others.length === 0) putBack(gate);
    }
  }
}

/** Two sites of `autoGroups` have no options, so their objects needn't be the same: each copy of the package has its own. */
function isSameSite(
  known: MethodSite,
  { group, options, auto }: Pick<MethodSite, 'group' | 'options' | 'auto'>,
): boolean {
  if (known.group !== group) return false;
  return known.options === options || (known.auto !== undefined && auto !== undefined);
}

function putBack(gate: LentGate): void {
  // A route of another application, or a foreign wrapper, may still use it.
  gate.superseded = true;
  const { prototype, key } = gate.loan;
  const current: unknown = Object.getOwnPropertyDescriptor(prototype, key)?.value;
  if (current !== gate.wrapper) {
    const standing = lentGateWith(prototype, key, current);
    if (standing === undefined || standing.loan.prototype !== prototype || !isOver(standing.loan)) {
      keepOverGate(gate);
      return;
    }
    // A spy has put it back while this one was in use.
    forgetLentGate(gate);
    putBack(standing);
    return;
  }
  forgetLentGate(gate);
  let { former, earlier } = gate.loan;
  // Gates of applications that have closed since then were replaced by this one, so they have put nothing back.
  while (earlier?.superseded === true) ({ former, earlier } = earlier.loan);
  if (former === undefined || shieldOf(former.value)?.borrowers.size === 0) {
    Reflect.deleteProperty(prototype, key);
    return;
  }
  define(prototype, key, former, earlier?.wrapper ?? originalOf(gate));
}

function methodAt(prototype: object, key: string): ClassMethod | undefined {
  for (let at: object | null = prototype; at !== null; at = Object.getPrototypeOf(at) as object | null) {
    const descriptor = Object.getOwnPropertyDescriptor(at, key);
    if (descriptor === undefined) continue;
    return typeof descriptor.value === 'function'
      ? new ClassMethod(key, at, descriptor, at !== prototype)
      : undefined;
  }
  return undefined;
}

/** A prototype that is frozen, or can't be extended, refuses. */
function define(
  prototype: object,
  key: string,
  former: PropertyDescriptor | undefined,
  value: ClassMethod['method'],
): boolean {
  // Measured: this takes a fourth of the time of a gate at the start.
  if (former?.writable === true) return Reflect.set(prototype, key, value);
  return Reflect.defineProperty(prototype, key, {
    configurable: true,
    writable: true,
    enumerable: false,
    ...former,
    value,
  });
}
