import { argumentError } from '../../core/diagnostics/argument-error.js';
import { createError, NestLensError } from '../../core/diagnostics/errors.js';
import type { Guard } from './read-guards.js';

/** More traces would need a database. */
const MAX_RECENT_TRACES = 1_000;

/** In these values of `NODE_ENV`, strangers can't reach the process. */
const WITHOUT_STRANGERS: readonly (string | undefined)[] = ['development', 'test'];

/** The checked options of the page, and of the traces that are kept. */
export interface ReadPageOptions {
  readonly page: boolean;
  /** How many; 0: none. */
  readonly recentTraces: number;
}

/**
 * Reads whether there is a page, and how many traces are kept. Attributes of traces may hold personal data, and the page
 * shows them, so outside of development both need guards.
 *
 * @throws TypeError for a value of a wrong type; NestLensError `INTROSPECTION_UNGUARDED`
 */
export function readPageOptions(
  { page = false, recentTraces = 0 }: { page?: unknown; recentTraces?: unknown },
  guards: readonly Guard[],
): ReadPageOptions {
  if (typeof page !== 'boolean')
    throw argumentError('NestLensModule: introspection.page', 'true or false', page);
  if (!isNumberOfTraces(recentTraces)) {
    const wanted = `a whole number from 0 to ${MAX_RECENT_TRACES}`;
    throw argumentError('NestLensModule: introspection.recentTraces', wanted, recentTraces);
  }
  const asked = [
    ...(page ? ['introspection.page'] : []),
    ...(recentTraces > 0 ? ['introspection.recentTraces'] : []),
  ];
  const environment = process.env['NODE_ENV'];
  if (asked.length > 0 && guards.length === 0 && !WITHOUT_STRANGERS.includes(environment)) {
    throw createError(NestLensError, 'INTROSPECTION_UNGUARDED', {
      options: asked,
      environment: environment === undefined ? 'not set' : `'${environment}'`,
    });
  }
  return { page, recentTraces };
}

function isNumberOfTraces(given: unknown): given is number {
  return Number.isInteger(given) && (given as number) >= 0 && (given as number) <= MAX_RECENT_TRACES;
}
