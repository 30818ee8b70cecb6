import type { AnyFunction } from '../../core/spans/gated-function.js';

/** A method of a class that passes by the lent gates of its base class. */
export interface Shield {
  readonly prototype: object;
  readonly key: string;
  readonly method: AnyFunction;
  /** The applications that leave the class out. */
  readonly borrowers: Set<object>;
}

const shields = new WeakMap<object, Shield>();

export function noteShield(shield: Shield): void {
  shields.set(shield.method, shield);
}

/** The shield that a method is. */
export function shieldOf(method: unknown): Shield | undefined {
  return typeof method === 'function' ? shields.get(method) : undefined;
}
