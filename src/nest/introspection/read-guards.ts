import type { CanActivate, Type } from '@nestjs/common';
import { argumentError } from '../../core/diagnostics/argument-error.js';

/** A guard in the form that `@UseGuards()` takes. */
export type Guard = Type<CanActivate> | CanActivate;

/** Reads a list of guards. @param where e.g. `introspection.guards`. @throws TypeError for a value that is no guard */
export function readGuards(where: string, given: unknown = []): readonly Guard[] {
  if (!Array.isArray(given)) throw argumentError(`NestLensModule: ${where}`, 'an array of guards', given);
  for (const [at, guard] of given.entries()) {
    if (isGuard(guard)) continue;
    throw argumentError(`NestLensModule: ${where}[${at}]`, 'a class with a method canActivate()', guard);
  }
  return [...(given as Guard[])];
}

/** Nest 11.0 ignores a guard without `canActivate`, which would let everybody pass. */
function isGuard(given: unknown): boolean {
  const instance: unknown = typeof given === 'function' ? given.prototype : given;
  return typeof (instance as Partial<CanActivate> | null | undefined)?.canActivate === 'function';
}

/** Requires that an object of options has no other keys. @throws TypeError that names one */
export function requireKeys(where: string, given: object, known: object): void {
  const unknown = Object.keys(given).find((key) => !Object.hasOwn(known, key));
  if (unknown === undefined) return;
  const keys = Object.keys(known);
  const wanted = `${keys.slice(0, -1).join(', ')} or ${keys.at(-1)}`;
  throw argumentError(`NestLensModule: a key of ${where}`, wanted, unknown);
}

/** Whether two lists have the same items in the same order. */
export function isSameList(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((one, at) => one === b[at]);
}
