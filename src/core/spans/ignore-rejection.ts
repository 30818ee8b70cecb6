import { types } from 'node:util';

/** Types forbid that a callback gives a promise; if it does all the same, its rejection must not go unhandled. */
export function ignoreRejection(given: unknown): void {
  if (types.isPromise(given)) given.then(undefined, () => undefined);
}
