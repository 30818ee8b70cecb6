import { types } from 'node:util';

/** The types forbid callbacks to return a promise. If one does, its rejection must not go unhandled. */
export function ignoreRejection(given: unknown): void {
  if (types.isPromise(given)) given.then(undefined, () => undefined);
}
