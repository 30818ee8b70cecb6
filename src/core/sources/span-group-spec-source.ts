import { argumentError, checkOptions } from '../diagnostics/argument-error.js';

/**
 * Where the spec of a process comes from while it runs: a file, a key in Redis, a feature flag. NestLens watches it from the set-up
 * until the shutdown. What it gives beats the configured spec, and an override beats both.
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
  /** What the document of `GET /lens/groups`, the log and warnings call it. Anybody who may see those may see it. */
  readonly name: string;
  /**
   * Called at each set-up, and again when it threw or rejected. What it does must not keep the process alive.
   *
   * @param onSpec to be called with the spec at the beginning, and after each change. `undefined` says that there is none: then the
   * configured spec counts. What can't be a spec is a warning, and the last one stays
   * @param onProblem may be called when the connection is lost, or what was found can't be used: a warning, and the last spec stays
   * until `onSpec` is called again. A text is shown at the endpoint, too; an error goes to the log only. NestLens always gives it
   * @returns ends it; called once, at shutdown. A promise of that, if it takes a while to begin
   */
  watch(
    onSpec: (spec: string | undefined) => void,
    onProblem?: (problem: unknown) => void,
  ): (() => void) | Promise<() => void>;
}

/**
 * Checks what was given as a source.
 *
 * @param what the option, for the error
 * @throws TypeError for what isn't one
 */
export function checkSpecSource(what: string, given: unknown): void {
  checkOptions(what, given);
  const { name, watch } = given as Partial<SpanGroupSpecSource>;
  if (typeof name !== 'string' || name.trim() === '') throw argumentError(`${what}.name`, 'a text', name);
  if (typeof watch !== 'function') throw argumentError(`${what}.watch`, 'a method watch(onSpec)', watch);
}
