import type { CanActivate, Type } from '@nestjs/common';
import { argumentError } from '../../core/diagnostics/argument-error.js';
import { type Guard, readGuards, requireKeys } from './read-guards.js';

/** Who may change the spec, and under which names changes are recorded. */
export interface RuntimeControlOptions {
  /**
   * Guards of the routes that change the spec. They run after those of `introspection.guards`, because not everybody who may
   * look may change. @defaultValue none; then `introspection.guards` needs one
   */
  guards?: (Type<CanActivate> | CanActivate)[];
  /**
   * Returns the sender of a request, a string or a number, for the log and for `changes` in the document. It gets the
   * platform's request after the guards. If it throws, or returns anything else, a warning says so and the change has no
   * author. A promise isn't waited for.
   *
   * @example
   * by: (request) => request.user?.email
   *
   * @defaultValue nobody is named
   */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- the platform decides the type, and applications add properties
  by?: (request: any) => string | number | undefined | null;
}

/** The checked options of the routes that change the spec. */
export interface ReadRuntimeControl {
  readonly guards: readonly Guard[];
  readonly by: RuntimeControlOptions['by'] | undefined;
}

/** Every name that `introspection.runtimeControl` may have. */
export const RUNTIME_CONTROL_KEYS = {
  guards: true,
  by: true,
} satisfies Record<keyof RuntimeControlOptions, true>;

/**
 * Reads the option. @throws TypeError for a value of a wrong type or an unknown key. @returns false if there are no such
 * routes
 */
export function readRuntimeControl(
  given: boolean | RuntimeControlOptions | undefined = false,
): false | ReadRuntimeControl {
  if (given === false) return false;
  if (given === true) return { guards: [], by: undefined };
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    const wanted = 'true or false, or an object with guards and by';
    throw argumentError('NestLensModule: introspection.runtimeControl', wanted, given);
  }
  requireKeys('introspection.runtimeControl', given, RUNTIME_CONTROL_KEYS);
  const { by } = given;
  if (by !== undefined && typeof by !== 'function') {
    throw argumentError('NestLensModule: introspection.runtimeControl.by', 'a function of the request', by);
  }
  return { guards: readGuards('introspection.runtimeControl.guards', given.guards), by };
}
