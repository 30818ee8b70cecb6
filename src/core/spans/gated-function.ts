import { mirrorProperties, mirrorPrototype } from './mirror-function.js';
import { readProperty } from './read-property.js';
import type { SpanGate } from '../state/state-shape.js';

/** A function as a wrapper sees it: any receiver, any arguments. */
export type AnyFunction = (this: unknown, ...args: unknown[]) => unknown;

/** Has the function that calls go to while the gate is open. It is asked for at such a call, so it may make it then. */
export interface BehindGate {
  readonly on: AnyFunction;
}

type MakeWrapper = (gate: SpanGate, original: AnyFunction, behind: BehindGate, name: string) => AnyFunction;

/* eslint-disable prefer-rest-params -- with rest parameters, every off call allocates: see gateFunction */
/**
 * Wrappers for methods, by their number of parameters. A method has no `prototype` of its own, so its wrapper must not have one
 * either. Measured: to define the length of a wrapper later takes 2 us more at a start, and 230 B.
 */
const METHODS: readonly MakeWrapper[] = [
  (gate, original, behind, name) =>
    ({
      [name](this: unknown): unknown {
        return gate.enabled
          ? behind.on.apply(this, arguments as never)
          : Reflect.apply(original, this, arguments);
      },
    })[name]!,
  (gate, original, behind, name) =>
    ({
      [name](this: unknown, _1: unknown): unknown {
        return gate.enabled
          ? behind.on.apply(this, arguments as never)
          : Reflect.apply(original, this, arguments);
      },
    })[name]!,
  (gate, original, behind, name) =>
    ({
      [name](this: unknown, _1: unknown, _2: unknown): unknown {
        return gate.enabled
          ? behind.on.apply(this, arguments as never)
          : Reflect.apply(original, this, arguments);
      },
    })[name]!,
  (gate, original, behind, name) =>
    ({
      [name](this: unknown, _1: unknown, _2: unknown, _3: unknown): unknown {
        return gate.enabled
          ? behind.on.apply(this, arguments as never)
          : Reflect.apply(original, this, arguments);
      },
    })[name]!,
];

const makeFunction: MakeWrapper = (gate, original, behind) =>
  function (): unknown {
    return gate.enabled
      ? behind.on.apply(this, arguments as never)
      : Reflect.apply(original, this, arguments);
  };
/* eslint-enable prefer-rest-params */

/**
 * Puts a function behind a gate. While the gate is open, calls go to `behind.on`; while it is closed, they go straight to
 * the function.
 *
 * It is called by `Reflect.apply`, because a function may have an `apply` of its own, which does something else, or a prototype
 * without one.
 *
 * Measured: forwarding `arguments` on both sides, in a function that does nothing else, costs 1.3 of a direct call
 * and allocates nothing. With rest arguments, or any other use of `arguments`, every off call allocates an array after the
 * gate was open once: 64 B, 3.5 of a direct call.
 *
 * @param mirror how own properties come to the wrapper
 * @returns a function that looks like the original, but has none of its metadata yet
 */
export function gateFunction(
  gate: SpanGate,
  original: AnyFunction,
  behind: BehindGate,
  mirror = mirrorProperties,
): AnyFunction {
  const own = Reflect.ownKeys(original);
  const name = readProperty(original, 'name');
  const length = readProperty(original, 'length');
  const isMethod = !own.includes('prototype');
  const ofLength = typeof length === 'number' ? METHODS[length] : undefined;
  const make = isMethod ? (ofLength ?? METHODS[0]!) : makeFunction;
  const wrapper = make(gate, original, behind, typeof name === 'string' ? name : '');
  // Measured: to define a name and a length again takes 190 B more.
  const isMadeAlike = ofLength !== undefined && typeof name === 'string' && hasNameAndLengthOnly(own);
  if (isMadeAlike) mirrorPrototype(original, wrapper);
  else mirror(original, wrapper, own);
  return wrapper;
}

function hasNameAndLengthOnly(own: readonly PropertyKey[]): boolean {
  return own.length === 2 && own[0] === 'length' && own[1] === 'name';
}
