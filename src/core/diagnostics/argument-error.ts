import { describeValue } from './quote-details.js';

/**
 * The error for an argument of a wrong type. Public functions throw it before they change anything.
 *
 * @param what the argument, e.g. `SpanRegistry.register: groups`
 * @param wanted e.g. `an array, a set or another iterable of names`
 */
export function argumentError(what: string, wanted: string, given: unknown): TypeError {
  return new TypeError(`${what} must be ${wanted}, not ${describeValue(given)}.`);
}

/** Checks that a name is a string. */
export function checkText(what: string, given: unknown): void {
  if (typeof given !== 'string') throw argumentError(what, 'a string', given);
}

/** Checks that options are an object, or were left out. */
export function checkOptions(what: string, given: unknown): void {
  if (given !== undefined && (typeof given !== 'object' || given === null || Array.isArray(given))) {
    throw argumentError(what, 'an object', given);
  }
}
