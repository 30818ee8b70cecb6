import 'reflect-metadata';
import type { AnyFunction } from '../../core/spans/gated-function.js';
import type { MethodSite } from './handler-span.js';

/** Kept beside the wrapper of a gated method. Other decorators may copy it to their own wrapper. */
export interface GatedMethod {
  readonly wrapper: AnyFunction;
  readonly original: AnyFunction;
  readonly site: MethodSite;
  /**
   * If true, calls go straight through: another `@SpanGroup` or `@NoSpanGroup` stands above, with a foreign wrapper in
   * between; or the loan is over, but the wrapper is still in use.
   */
  superseded: boolean;
  /** The applications that asked for the gate, if no decorator did; only while they run. */
  readonly loan: GateLoan | undefined;
}

/** A gate without a decorator: the applications that asked for it, and the method that it replaced. */
export interface GateLoan {
  /** Those of {@link borrowerOf}. A set may be that of many loans, so a change takes a new one. */
  borrowers: ReadonlySet<object>;
  readonly prototype: object;
  readonly key: string;
  /** Undefined if the class inherited the method. */
  readonly former: PropertyDescriptor | undefined;
  /** The gate of another application, if `former` is its wrapper. */
  readonly earlier: LentGate | undefined;
  /** The gate that was lent to the class before this one, and that is still lent. Measured: an array for each class takes more. */
  before: LentGate | undefined;
}

/** A gate that applications have asked for. */
export interface LentGate extends GatedMethod {
  readonly loan: GateLoan;
}

export const GATED_METHOD_METADATA = 'nest-lens:gated-method';

/** The gate that a decorator has given a method, even if another decorator has wrapped it since. */
export function gatedMethodOf(method: object): GatedMethod | undefined {
  return Reflect.getOwnMetadata(GATED_METHOD_METADATA, method) as GatedMethod | undefined;
}

/** The same for a method the keys of whose metadata are known. */
export function gatedMethodAmong(keys: readonly unknown[], method: object): GatedMethod | undefined {
  return keys.includes(GATED_METHOD_METADATA) ? gatedMethodOf(method) : undefined;
}
