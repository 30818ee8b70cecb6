import { quoteDetails } from '../diagnostics/quote-details.js';
import { printValue } from './span-exception.js';

/** The error for a call from JavaScript without a function to run. It shows how the call is written. */
export function missingFunction(
  call: string,
  names: readonly unknown[],
  given: unknown,
  usage: string,
): TypeError {
  const shown = names.map((name) => `'${quoteDetails({ name: printValue(name) }).name}'`).join(', ');
  const got = given === null ? 'null' : typeof given;
  return new TypeError(`${call}(${shown}) needs a function to run, and got ${got}. Write ${usage}.`);
}
