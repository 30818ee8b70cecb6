import { argumentError } from '../diagnostics/argument-error.js';
import { describeValue } from '../diagnostics/quote-details.js';
import type { Warning } from '../diagnostics/warnings.js';
import { ALL, parseSpanGroupSpec, specProblem } from '../groups/span-group-spec.js';
import type { SpanGroupSpec } from '../state/spec-layers.js';
import { isSigningKey } from './sign-span-groups.js';
import { secretKey, type SigningKey } from './signed-groups.js';

/** Lets requests that carry a signed header turn span groups on for themselves. */
export interface RequestOptInOptions {
  /**
   * What the header `x-lens-groups` is signed with: 32 random bytes, as text or bytes. Without a key headers aren't read; an
   * empty key gives a warning. @defaultValue none
   */
  key?: SigningKey | readonly SigningKey[] | undefined;
  /** More accepted keys, such as the previous one while it is being replaced. @defaultValue none */
  keys?: readonly SigningKey[] | undefined;
  /** The groups, presets, wildcards and exclusions that a request may use. @defaultValue `['all']` */
  allow?: readonly string[] | undefined;
  /**
   * Sends the signed text on with outgoing requests, as the baggage entry `x-lens-groups`, wherever they go. Processes that have the
   * key verify it again. @defaultValue false
   */
  propagate?: boolean | undefined;
}

/** Every name that `requestOptIn` may have. */
export const REQUEST_OPT_IN_KEYS = {
  key: true,
  keys: true,
  allow: true,
  propagate: true,
} satisfies Record<keyof RequestOptInOptions, true>;

/** The checked option. */
export interface ReadRequestOptIn {
  /** If empty, the feature is off: there is nothing to verify a header with. */
  readonly keys: readonly object[];
  readonly allow: SpanGroupSpec;
  readonly propagate: boolean;
  /** Warnings to give when it starts. */
  readonly warnings: readonly Warning[];
}

/** A shorter key can be found out from one header. In bytes. */
const SHORT_KEY = 16;

/**
 * Reads the option. No error and no warning quotes a key.
 *
 * @throws TypeError for a value of a wrong type, and for a key of the option that isn't known
 */
export function readRequestOptIn(given: unknown): ReadRequestOptIn | undefined {
  if (given === undefined) return undefined;
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    // The option may be the key itself, by mistake, so the message must not quote it.
    throw new TypeError(
      `requestOptIn must be an object with a key, not of type ${Array.isArray(given) ? 'array' : typeof given}.`,
    );
  }
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(REQUEST_OPT_IN_KEYS, name));
  if (unknown !== undefined) {
    throw argumentError('requestOptIn: an option', Object.keys(REQUEST_OPT_IN_KEYS).join(', '), unknown);
  }
  const { key, keys, allow = [ALL], propagate = false } = given as RequestOptInOptions;
  if (typeof propagate !== 'boolean')
    throw argumentError('requestOptIn.propagate', 'true or false', propagate);
  const warnings: Warning[] = [];
  const found = [...readKeys('key', key, warnings), ...readKeys('keys', keys, warnings)];
  return { keys: found, allow: readAllow(allow, warnings), propagate, warnings };
}

function readKeys(option: string, given: unknown, warnings: Warning[]): object[] {
  if (given === undefined || given === null) return [];
  const list: readonly unknown[] = Array.isArray(given) ? given : [given];
  return list.flatMap((key, at) => {
    const name = Array.isArray(given) ? `requestOptIn.${option}[${at}]` : `requestOptIn.${option}`;
    if (key === undefined || key === null) return []; // A variable that isn't set.
    if (!isSigningKey(key))
      throw new TypeError(`${name} must be a string or bytes, not of type ${typeof key}.`);
    const bytes = typeof key === 'string' ? Buffer.byteLength(key.trim()) : key.length;
    if (bytes < SHORT_KEY) warnings.push({ code: 'REQUEST_OPT_IN_KEY', details: { option: name, bytes } });
    return bytes === 0 ? [] : [secretKey(key)];
  });
}

function readAllow(given: unknown, warnings: Warning[]): SpanGroupSpec {
  if (!Array.isArray(given)) throw argumentError('requestOptIn.allow', 'an array of names', given);
  const wrong: unknown = given.find((name) => typeof name !== 'string');
  if (wrong !== undefined) {
    throw new TypeError(`requestOptIn.allow must hold strings only, not ${describeValue(wrong)}.`);
  }
  const spec = given.join(',');
  const problem = specProblem(spec);
  if (problem !== undefined) throw new TypeError(`requestOptIn.allow ${problem}.`);
  const allow = parseSpanGroupSpec(spec);
  if (allow.included.length === 0) {
    warnings.push({ code: 'REQUEST_OPT_IN_ALLOW', details: { pending: [], nearest: {} } });
  }
  return allow;
}
