import type { CanActivate, Type } from '@nestjs/common';
import { argumentError } from '../../core/diagnostics/argument-error.js';
import { createError, NestLensError } from '../../core/diagnostics/errors.js';
import {
  type ReadRuntimeControl,
  readRuntimeControl,
  type RuntimeControlOptions,
} from './runtime-control-options.js';
import { readPageOptions, type ReadPageOptions } from './page-options.js';
import { type Guard, isSameList, readGuards, requireKeys } from './read-guards.js';

/** Options of the routes of NestLens. */
export interface IntrospectionOptions {
  /** The routes' first segments. The global prefix goes before them. @defaultValue 'lens' */
  path?: string;
  /** Guards of every route, besides global ones. What they inject has to be global, or imported with `forRootAsync`. @defaultValue none */
  guards?: (Type<CanActivate> | CanActivate)[];
  /**
   * Adds the routes by which callers change what is on in this process, for a while, and preview what that would cost. Needs a
   * guard: of `guards`, or of its own. @defaultValue false
   */
  runtimeControl?: boolean | RuntimeControlOptions;
  /**
   * Adds the page, at the path itself: what is on and why, the switches where there is runtime control, recent traces. Needs `guards`,
   * unless `NODE_ENV` is `development` or `test`. @defaultValue false
   */
  page?: boolean;
  /**
   * Keeps this many of the last finished traces of the process in memory, at most 1,000, and adds the routes that show them. Needs
   * `guards`, unless `NODE_ENV` is `development` or `test`. @defaultValue 0
   */
  recentTraces?: number;
}

/** What was decided about the endpoint of one `forRoot`. */
export interface ReadIntrospection extends ReadPageOptions {
  readonly path: string;
  readonly guards: readonly Guard[];
  readonly runtimeControl: false | ReadRuntimeControl;
}

/** The endpoint of one `forRoot`. */
export interface Endpoint {
  /** What it is like; `false`: there is none. */
  readonly introspection: ReadIntrospection | false;
  /** Whether the options say so. */
  readonly isAsked: boolean;
  readonly controllers: readonly Type<object>[];
}

/** Every key that `introspection` may have. */
export const INTROSPECTION_KEYS = {
  path: true,
  guards: true,
  runtimeControl: true,
  page: true,
  recentTraces: true,
} satisfies Record<keyof IntrospectionOptions, true>;

/**
 * Reads who may see and change what. Nothing is taken for something else here: an option that can't be obeyed as it stands would
 * leave a door open.
 *
 * @returns false: no route
 * @throws TypeError for a value of a wrong type or a key that isn't known; NestLensError `RUNTIME_CONTROL_UNGUARDED`,
 * `INTROSPECTION_UNGUARDED`
 */
export function readIntrospection(
  given: false | IntrospectionOptions | undefined,
): ReadIntrospection | false {
  if (given === false) return false;
  if (given !== undefined && (typeof given !== 'object' || given === null || Array.isArray(given))) {
    throw argumentError('NestLensModule: introspection', 'false or an object', given);
  }
  requireKeys('introspection', given ?? {}, INTROSPECTION_KEYS);
  const { path = 'lens' } = given ?? {};
  if (typeof path !== 'string') throw argumentError('NestLensModule: introspection.path', 'a text', path);
  const runtimeControl = readRuntimeControl(given?.runtimeControl);
  const guards = readGuards('introspection.guards', given?.guards);
  if (runtimeControl !== false && guards.length + runtimeControl.guards.length === 0) {
    throw createError(NestLensError, 'RUNTIME_CONTROL_UNGUARDED');
  }
  return { path, guards, runtimeControl, ...readPageOptions(given ?? {}, guards) };
}

/** Whether the endpoints of two calls of `forRoot` would be the same; `false`: there would be none. */
export function isSameIntrospection(a: ReadIntrospection | false, b: ReadIntrospection | false): boolean {
  if (a === false || b === false) return a === b;
  return (
    a.path === b.path &&
    a.page === b.page &&
    a.recentTraces === b.recentTraces &&
    isSameList(a.guards, b.guards) &&
    isSameControl(a.runtimeControl, b.runtimeControl)
  );
}

function isSameControl(a: false | ReadRuntimeControl, b: false | ReadRuntimeControl): boolean {
  if (a === false || b === false) return a === b;
  return a.by === b.by && isSameList(a.guards, b.guards);
}
