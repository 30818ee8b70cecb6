import { mirrorFunction } from './mirror-function.js';
import type { SpanGate } from '../state/state-shape.js';

/** A function as a wrapper sees it: any receiver, any arguments. */
export type AnyFunction = (this: unknown, ...args: unknown[]) => unknown;

/**
 * Puts a function behind a gate. While the gate is open, calls go to `on`; while it is closed, they go straight to the
 * function. The wrapper looks like the original.
 *
 * Measured: forwarding `arguments` by `apply` on both sides, in a function that does nothing else, costs 1.3 of a direct call
 * and allocates nothing. With rest arguments, or any other use of `arguments`, every off call allocates an array after the
 * gate was open once: 64 B, 3.5 of a direct call.
 *
 * @param keys those of the original's metadata, if they are known
 */
export function gateFunction(
  gate: SpanGate,
  original: AnyFunction,
  on: AnyFunction,
  keys?: readonly unknown[],
): AnyFunction {
  /* eslint-disable prefer-rest-params -- measured, see above */
  // Measured: a name that is set at creation costs 0.2 us; one that is defined later costs 0.5 us and 230 B more.
  const given: unknown = Object.getOwnPropertyDescriptor(original, 'name')?.value;
  const name = typeof given === 'string' ? given : '';
  const wrapper: AnyFunction = Object.hasOwn(original, 'prototype')
    ? function () {
        return gate.enabled ? on.apply(this, arguments as never) : original.apply(this, arguments as never);
      }
    : // A method has no `prototype` of its own, so its wrapper must not have one either.
      {
        [name](this: unknown) {
          return gate.enabled ? on.apply(this, arguments as never) : original.apply(this, arguments as never);
        },
      }[name]!;
  /* eslint-enable prefer-rest-params */
  return mirrorFunction(original, wrapper, keys);
}
