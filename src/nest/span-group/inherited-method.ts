import type { AnyFunction } from '../../core/spans/gated-function.js';
import { copyMetadata, shareProperties } from '../../core/spans/mirror-function.js';
import { lentGateWith } from './known-gates.js';

/**
 * A method that calls what the prototype inherits at the time of the call, without the gates that were lent there. So a spy on the
 * base class, set or restored later, is obeyed by the subclass, as it is without NestLens.
 *
 * @param method what the prototype inherits now; the result looks like it
 * @param keys those of the method's own metadata
 */
export function inheritedMethod(
  prototype: object,
  key: string,
  method: AnyFunction,
  keys: readonly unknown[],
): AnyFunction {
  const base = Object.getPrototypeOf(prototype) as Record<string, unknown>;
  // What these are is asked at the first call, because most methods never have one.
  let first: unknown;
  let known: unknown;
  let current: unknown;
  let isInside = false;
  /* eslint-disable prefer-rest-params -- with rest parameters, every call allocates: see gateFunction */
  const { [key]: inherited } = {
    [key](this: unknown): unknown {
      const found = base[key]; // Measured: 3 ns a call; by Reflect.get it is 20 ns.
      if (found !== known) {
        known = found;
        current = ungated(base, key, found);
        first ??= ungated(base, key, method);
      }
      // The base class may have been given this very method, or one that calls it. Without the check it would call itself for ever.
      if (current === first || isInside) return Reflect.apply(first as AnyFunction, this, arguments);
      isInside = true;
      try {
        return Reflect.apply(current as AnyFunction, this, arguments);
      } finally {
        isInside = false;
      }
    },
  };
  /* eslint-enable prefer-rest-params */
  const forward = inherited as AnyFunction;
  shareProperties(method, forward, Reflect.ownKeys(method), () => Object(base[key]) as object);
  copyMetadata(method, forward, keys);
  return forward;
}

/** A method without the gates that were lent to the class that has it. */
function ungated(base: object, key: string, method: unknown): unknown {
  const gate = lentGateWith(base, key, method);
  return gate === undefined ? method : ungated(base, key, gate.original);
}
