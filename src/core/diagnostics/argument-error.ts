import { describeValue } from './quote-details.js';

/**
 * What a public function throws that was given something of a wrong type, before it changes anything.
 *
 * @param what the argument, e.g. `SpanRegistry.register: groups`
 * @param wanted e.g. `an array, a set or another iterable of names`
 */
export function argumentError(what: string, wanted: string, given: unknown): TypeError {
  return new TypeError(`${what} must be ${wanted}, not ${describeValue(given)}.`);
}

/** Checks that an argument of options is an object, or was left out. */
export function checkOptions(what: string, given: unknown): void {
  if (given !== undefined && (typeof given !== 'object' || given === null)) {
    throw argumentError(what, 'an object', given);
  }
}
