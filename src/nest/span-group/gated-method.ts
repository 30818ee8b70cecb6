import 'reflect-metadata';
import type { AnyFunction } from '../../core/spans/gated-function.js';
import type { GateLoan } from './gate-loan.js';
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

export const GATED_METHOD_METADATA = 'nest-lens:gated-method';

/** The gate of a method, even if another decorator has wrapped it; undefined if it has none. */
export function gatedMethodOf(method: object): GatedMethod | undefined {
  return Reflect.getOwnMetadata(GATED_METHOD_METADATA, method) as GatedMethod | undefined;
}

/** The same for a method the keys of whose metadata are known. */
export function gatedMethodAmong(keys: readonly unknown[], method: object): GatedMethod | undefined {
  return keys.includes(GATED_METHOD_METADATA) ? gatedMethodOf(method) : undefined;
}
