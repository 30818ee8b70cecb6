import { argumentError } from '../diagnostics/argument-error.js';
import { createError, NestLensError } from '../diagnostics/errors.js';
import { parseSpanGroupSpec, specProblem } from '../groups/span-group-spec.js';
import {
  MAX_SIGNED_LENGTH,
  MAX_SIGNED_TTL_MS,
  secretKey,
  type SigningKey,
  signText,
} from './signed-groups.js';

/** Options of `signSpanGroups`. */
export interface SignSpanGroupsOptions {
  /** One of the keys in `requestOptIn` of the processes that should obey. */
  key: SigningKey;
  /**
   * How long requests may carry the header, in milliseconds; at most 86,400,000, a day. @defaultValue 900000, a quarter of an
   * hour
   */
  ttlMs?: number;
}

const DEFAULT_TTL_MS = 900_000;
const KNOWN_KEYS = ['key', 'ttlMs'];

/**
 * Makes the value of the header `x-lens-groups`, which turns span groups on for the requests that carry it, whatever the spec
 * of the process says. It works until it expires, in processes whose `requestOptIn` has the key, for groups that `allow`
 * covers. Everybody who sees it can use it until then.
 *
 * @param spec as in `NEST_LENS_SPAN_GROUPS`: groups, presets, wildcards, exclusions; the process that gets the request
 * resolves it
 * @param options see {@link SignSpanGroupsOptions}
 * @throws NestLensError `INVALID_SPEC` for what can't be a spec, names nothing or makes a header of more than 2,048 characters
 * @throws TypeError for a key that is empty or neither a string nor bytes, for a `ttlMs` out of range, and for another key in the options.
 * No error says what the key is
 *
 * @example
 * const headers = { 'x-lens-groups': signSpanGroups('db_query,orders', { key, ttlMs: 600_000 }) };
 */
export function signSpanGroups(spec: string, options: SignSpanGroupsOptions): string {
  const problem = specProblem(spec);
  if (problem !== undefined) throw createError(NestLensError, 'INVALID_SPEC', { problem });
  const { included, excluded } = parseSpanGroupSpec(spec);
  if (included.length === 0) {
    throw createError(NestLensError, 'INVALID_SPEC', { problem: 'names nothing that could be turned on' });
  }
  // The options may be the key itself, by mistake, so the message must not quote it.
  if (typeof options !== 'object')
    throw new TypeError('signSpanGroups: options must be an object with a key.');
  const unknown = Object.keys(options ?? {}).find((name) => !KNOWN_KEYS.includes(name));
  if (unknown !== undefined) throw argumentError('signSpanGroups: a key of options', 'key or ttlMs', unknown);
  const { key, ttlMs = DEFAULT_TTL_MS } = options ?? {};
  if (!isSigningKey(key) || key.length === 0) {
    throw new TypeError('signSpanGroups: key must be a non-empty string, or bytes.');
  }
  if (!(typeof ttlMs === 'number' && ttlMs > 0 && ttlMs <= MAX_SIGNED_TTL_MS)) {
    const wanted = `a number of milliseconds above 0 and at most ${MAX_SIGNED_TTL_MS}, a day`;
    throw argumentError('signSpanGroups: ttlMs', wanted, ttlMs);
  }
  const entries = [...included, ...excluded.map((entry) => `-${entry}`)];
  const signed = signText(entries.join(','), Math.ceil(Date.now() + ttlMs), secretKey(key));
  if (signed.length <= MAX_SIGNED_LENGTH) return signed;
  throw createError(NestLensError, 'INVALID_SPEC', {
    problem: `makes a header of ${signed.length} characters; at most ${MAX_SIGNED_LENGTH} are allowed. A preset can name many groups at once`,
  });
}

/** Whether a value can be a key. */
export function isSigningKey(given: unknown): given is SigningKey {
  return typeof given === 'string' || given instanceof Uint8Array;
}
