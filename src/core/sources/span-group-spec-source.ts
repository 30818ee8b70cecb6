import { argumentError, checkOptions } from '../diagnostics/argument-error.js';

/**
 * A source of the spec while the process runs, such as a file, a key in Redis or a feature flag. NestLens watches it from the
 * set-up until the shutdown. Its spec overrides the configured one; an override stands above both.
 *
 * @example
 * ```ts
 * const flags: SpanGroupSpecSource = {
 *   name: 'flags',
 *   watch(onSpec, onProblem) {
 *     const stop = flagClient.subscribe('span-groups', onSpec);
 *     flagClient.on('disconnect', () => onProblem?.('the connection is lost'));
 *     return stop;
 *   },
 * };
 * ```
 */
export interface SpanGroupSpecSource {
  /** Its name in the document of `GET /lens/groups`, in the log and in warnings. Everybody who may read those sees it. */
  readonly name: string;
  /**
   * NestLens calls it at each set-up, and again after it threw or rejected. It must not keep the process alive.
   *
   * @param onSpec call it with the spec at the beginning and after each change. `undefined` means that there is none, so that
   * the configured spec counts. A value that can't be a spec gives a warning, and the last spec stays
   * @param onProblem call it when the connection is lost, or the value can't be used. It gives a warning, and the last spec
   * stays until the next `onSpec`. The endpoint shows a string; an error goes to the log only, because its message may quote an
   * address. NestLens always passes this function
   * @returns ends it; called once, at shutdown. A promise of that, if it takes a while to begin
   */
  watch(
    onSpec: (spec: string | undefined) => void,
    onProblem?: (problem: unknown) => void,
  ): (() => void) | Promise<() => void>;
}

/**
 * Checks the type of a source.
 *
 * @param what the option, for the error
 * @throws TypeError if it isn't a source
 */
export function checkSpecSource(what: string, given: unknown): void {
  checkOptions(what, given);
  const { name, watch } = given as Partial<SpanGroupSpecSource>;
  if (typeof name !== 'string' || name.trim() === '') throw argumentError(`${what}.name`, 'a string', name);
  if (typeof watch !== 'function') throw argumentError(`${what}.watch`, 'a method watch(onSpec)', watch);
}
