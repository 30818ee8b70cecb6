import type { CanActivate, Type } from '@nestjs/common';
import { argumentError } from '../../core/diagnostics/argument-error.js';
import { type Guard, readGuards, requireKeys } from './read-guards.js';

/** Who may change what is on, and how they are called in the record of changes. */
export interface RuntimeControlOptions {
  /**
   * Guards of the routes that change something, after those of `introspection.guards`: who may look isn't who may change.
   * @defaultValue none; then `introspection.guards` has to have one
   */
  guards?: (Type<CanActivate> | CanActivate)[];
  /**
   * Who sends a request, for the log and for `changes` in the document: a text, or a number. It gets the platform's request when
   * the guards are done with it. What it throws, and anything else that it returns, is a warning, and the change is nobody's; a
   * promise isn't waited for.
   *
   * @example
   * by: (request) => request.user?.email
   *
   * @defaultValue nobody is named
   */
  // What a request is, is the platform's matter; and every application has its own properties on it.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  by?: (request: any) => string | number | undefined | null;
}

/** What was decided about the routes that change something. */
export interface ReadRuntimeControl {
  readonly guards: readonly Guard[];
  readonly by: RuntimeControlOptions['by'] | undefined;
}

/** Every key that `introspection.runtimeControl` may have. */
export const RUNTIME_CONTROL_KEYS = {
  guards: true,
  by: true,
} satisfies Record<keyof RuntimeControlOptions, true>;

/** Reads the option. @throws TypeError for a value of a wrong type or a key that isn't known. @returns false: no such routes */
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
