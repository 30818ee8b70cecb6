import 'reflect-metadata';
import { processState } from '../../core/state/process-state.js';
import type { AnyFunction } from '../../core/spans/gated-function.js';
import type { GateLoan } from './gate-loan.js';
import type { MethodSite } from './handler-span.js';

/** Kept beside the wrapper of a gated method. Other decorators may copy it, as metadata, to their own wrapper. */
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

const GATED_METHOD_METADATA = 'nest-lens:gated-method';

/** The gate of a method, even if another decorator has wrapped it; undefined if it has none. */
export function gatedMethodOf(method: object): GatedMethod | undefined {
  return (
    lentGateOf(method) ?? (Reflect.getOwnMetadata(GATED_METHOD_METADATA, method) as GatedMethod | undefined)
  );
}

/** The same for a method the keys of whose metadata are known. */
export function gatedMethodAmong(keys: readonly unknown[], method: object): GatedMethod | undefined {
  return keys.includes(GATED_METHOD_METADATA) ? gatedMethodOf(method) : lentGateOf(method);
}

/**
 * Keeps a gate for its wrapper. Measured: the first entry of a function in `reflect-metadata` takes 4 us at a start, and 900 B.
 * Most methods of services have none, so a gate that an application has asked for does without.
 *
 * @param keys those of the metadata of the wrapper
 */
export function keepGate(gated: GatedMethod, keys: readonly unknown[]): void {
  if (gated.loan !== undefined && keys.length === 0) processState.lentGates.set(gated.wrapper, gated);
  else Reflect.defineMetadata(GATED_METHOD_METADATA, gated, gated.wrapper);
}

export function forgetGate(method: object): void {
  processState.lentGates.delete(method);
  Reflect.deleteMetadata(GATED_METHOD_METADATA, method);
}

function lentGateOf(method: object): GatedMethod | undefined {
  return processState.lentGates.get(method) as GatedMethod | undefined;
}
