import type { CanActivate, Type } from '@nestjs/common';
import { argumentError } from '../../core/diagnostics/argument-error.js';
import { createError, NestLensError } from '../../core/diagnostics/errors.js';

/** Options of `GET /lens/groups`. */
export interface IntrospectionOptions {
  /** The route's first segments. The global prefix goes before them. @defaultValue 'lens' */
  path?: string;
  /** Guards of the route, besides global ones. What they inject has to be global, or imported with `forRootAsync`. @defaultValue none */
  guards?: (Type<CanActivate> | CanActivate)[];
  /**
   * Adds `PUT` and `DELETE`, with which callers override the spec of this process for a while. Needs `guards`.
   * @defaultValue false
   */
  runtimeControl?: boolean;
}

/** What was decided about the endpoint of one `forRoot`. */
export interface ReadIntrospection {
  readonly path: string;
  readonly guards: readonly (Type<CanActivate> | CanActivate)[];
  readonly runtimeControl: boolean;
}

/** The endpoint of one `forRoot`. */
export interface Endpoint {
  /** What it is like; `false`: there is none. */
  readonly introspection: ReadIntrospection | false;
  /** Whether the options say so. */
  readonly isAsked: boolean;
  readonly Controller: Type<object> | undefined;
}

/** Every key that `introspection` may have. */
export const INTROSPECTION_KEYS = {
  path: true,
  guards: true,
  runtimeControl: true,
} satisfies Record<keyof IntrospectionOptions, true>;

/**
 * Reads who may see and change what. Nothing is taken for something else here: an option that can't be obeyed as it stands would
 * leave a door open.
 *
 * @returns false: no route
 * @throws TypeError for a value of a wrong type or a key that isn't known; NestLensError `RUNTIME_CONTROL_UNGUARDED`
 */
export function readIntrospection(
  given: false | IntrospectionOptions | undefined,
): ReadIntrospection | false {
  if (given === false) return false;
  if (given !== undefined && (typeof given !== 'object' || given === null || Array.isArray(given))) {
    throw argumentError('NestLensModule: introspection', 'false or an object', given);
  }
  const unknown = Object.keys(given ?? {}).find((key) => !Object.hasOwn(INTROSPECTION_KEYS, key));
  if (unknown !== undefined) {
    throw argumentError('NestLensModule: a key of introspection', 'path, guards or runtimeControl', unknown);
  }
  const { path = 'lens', guards = [], runtimeControl = false } = given ?? {};
  if (typeof path !== 'string') throw argumentError('NestLensModule: introspection.path', 'a text', path);
  if (typeof runtimeControl !== 'boolean') {
    throw argumentError('NestLensModule: introspection.runtimeControl', 'true or false', runtimeControl);
  }
  if (!Array.isArray(guards)) {
    throw argumentError('NestLensModule: introspection.guards', 'an array of guards', guards);
  }
  for (const [at, guard] of guards.entries()) {
    if (!isGuard(guard)) {
      const what = `NestLensModule: introspection.guards[${at}]`;
      throw argumentError(what, 'a class with a method canActivate()', guard);
    }
  }
  if (runtimeControl && guards.length === 0) throw createError(NestLensError, 'RUNTIME_CONTROL_UNGUARDED');
  return { path, guards: [...guards], runtimeControl };
}

/** Nest 11.0 leaves a guard without `canActivate` out, and lets everybody pass. */
function isGuard(given: unknown): boolean {
  const instance: unknown = typeof given === 'function' ? given.prototype : given;
  return typeof (instance as Partial<CanActivate> | null | undefined)?.canActivate === 'function';
}

/** Whether the endpoints of two calls of `forRoot` would be the same; `false`: there would be none. */
export function isSameIntrospection(a: ReadIntrospection | false, b: ReadIntrospection | false): boolean {
  if (a === false || b === false) return a === b;
  return (
    a.path === b.path &&
    a.runtimeControl === b.runtimeControl &&
    a.guards.length === b.guards.length &&
    a.guards.every((guard, at) => guard === b.guards[at])
  );
}
