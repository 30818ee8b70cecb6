import { types } from 'node:util';
import { emitOnce } from '../../core/diagnostics/emit-once.js';
import { describeValue, quote } from '../../core/diagnostics/quote-details.js';

/** The most characters that are kept of a name or an address. */
const MAX_AUTHOR = 200;

/**
 * Asks the application for the sender of a request. It never throws: the guards have let the request through, so the change
 * is made even if the sender is unknown.
 *
 * @param by `introspection.runtimeControl.by`
 * @returns one line; null if the sender is unknown
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
  // A promise isn't waited for, because the sender is known when the guards are done.
  if (types.isPromise(given)) given.then(undefined, () => undefined);
  const what = types.isPromise(given) ? 'a promise' : describeValue(given);
  emitOnce('by', { code: 'CHANGE_AUTHOR_UNKNOWN', details: { error: `it returned ${what}` } });
  return null;
}
