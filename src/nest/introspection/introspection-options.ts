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
  /** The first segments of the routes, after the global prefix. @defaultValue 'lens' */
  path?: string;
  /**
   * Guards of every route, besides global ones. The providers that they inject have to be global, or imported with
   * `forRootAsync`. @defaultValue none
   */
  guards?: (Type<CanActivate> | CanActivate)[];
  /**
   * Adds the routes that change the spec in this process for a while, and that preview the cost of groups. They need a guard:
   * in `guards`, or of their own. @defaultValue false
   */
  runtimeControl?: boolean | RuntimeControlOptions;
  /**
   * Adds the page, at the path itself. It shows which groups are on and why, recent traces, and switches if there is runtime
   * control. It needs `guards`, unless `NODE_ENV` is `development` or `test`. @defaultValue false
   */
  page?: boolean;
  /**
   * Keeps this many of the last finished traces in memory, at most 1,000, and adds the routes that show them. It needs
   * `guards`, unless `NODE_ENV` is `development` or `test`. @defaultValue 0
   */
  recentTraces?: number;
}

/** The checked options of the endpoint of one `forRoot`. */
export interface ReadIntrospection extends ReadPageOptions {
  readonly path: string;
  readonly guards: readonly Guard[];
  readonly runtimeControl: false | ReadRuntimeControl;
}

/** The endpoint of one `forRoot`. */
export interface Endpoint {
  /** Its checked options; `false` if there is no endpoint. */
  readonly introspection: ReadIntrospection | false;
  /** Whether the application gave the option. */
  readonly isAsked: boolean;
  readonly controllers: readonly Type<object>[];
}

/** Every name that `introspection` may have. */
export const INTROSPECTION_KEYS = {
  path: true,
  guards: true,
  runtimeControl: true,
  page: true,
  recentTraces: true,
} satisfies Record<keyof IntrospectionOptions, true>;

/**
 * Reads who may see and change what. It corrects nothing: a wrong option would leave a door open, so it stops the start.
 *
 * @returns false if there are no routes
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
  if (typeof path !== 'string') throw argumentError('NestLensModule: introspection.path', 'a string', path);
  const runtimeControl = readRuntimeControl(given?.runtimeControl);
  const guards = readGuards('introspection.guards', given?.guards);
  if (runtimeControl !== false && guards.length + runtimeControl.guards.length === 0) {
    throw createError(NestLensError, 'RUNTIME_CONTROL_UNGUARDED');
  }
  return { path, guards, runtimeControl, ...readPageOptions(given ?? {}, guards) };
}

/** Whether the endpoints of two calls of `forRoot` would be equal; `false` stands for no endpoint. */
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
