import { types } from 'node:util';
import { emitOnce } from '../../core/diagnostics/emit-once.js';
import { describeValue, quote } from '../../core/diagnostics/quote-details.js';

/** The length of what is kept, in characters: a name or an address. */
const MAX_AUTHOR = 200;

/**
 * Asks the application who sends a request. Never throws: a change is made for whoever the guards have let through, known or not.
 *
 * @param by `introspection.runtimeControl.by`
 * @returns one line; null if nobody can tell
 */
export function changeAuthor(by: ((request: never) => unknown) | undefined, request: unknown): string | null {
  if (by === undefined) return null;
  let given: unknown;
  try {
    given = by(request as never);
    if (given === undefined || given === null) return null;
    if (typeof given === 'string' || typeof given === 'number' || typeof given === 'bigint') {
      return quote(String(given).trim(), MAX_AUTHOR) || null;
    }
  } catch (error) {
    emitOnce('by', { code: 'CHANGE_AUTHOR_UNKNOWN', details: { error } });
    return null;
  }
  // It isn't waited for: who sends a request is known when its guards are done.
  if (types.isPromise(given)) given.then(undefined, () => undefined);
  const what = types.isPromise(given) ? 'a promise' : describeValue(given);
  emitOnce('by', { code: 'CHANGE_AUTHOR_UNKNOWN', details: { error: `it returned ${what}` } });
  return null;
}
