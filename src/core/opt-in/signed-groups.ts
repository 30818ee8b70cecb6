import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';

/**
 * The text that turns groups on for one request: `<spec>;exp=<ms since the epoch>;sig=<HMAC-SHA-256, base64url>`. What stands
 * before `;sig=` is what is signed.
 *
 * It names no request, so whoever sees one may use it again until it expires: it turns spans on and nothing else, and a list of
 * those that were used would have to be shared by all processes.
 */

/** The name of the header, and of the entry in the baggage. */
export const OPT_IN_HEADER = 'x-lens-groups';
/** The length of a signed text. A longer one isn't looked at. */
export const MAX_SIGNED_LENGTH = 2_048;
/** For how long, in milliseconds, a text can be signed. */
export const MAX_SIGNED_TTL_MS = 86_400_000;
/** The signer's clock may be ahead by so much, in milliseconds. There is no grace for what has expired. */
const MAX_CLOCK_SKEW_MS = 60_000;

/** What a key may be. */
export type SigningKey = string | Uint8Array;

/**
 * A key that prints as nothing: Node's `KeyObject` shows neither its bytes nor its text. An object in the types, since who compiles against
 * this package may not have Node's.
 */
export function secretKey(key: SigningKey): object {
  return createSecretKey(typeof key === 'string' ? Buffer.from(key, 'utf8') : Buffer.from(key));
}

/** Characters that mean nothing in a header, in baggage or in the text itself. */
const NOT_PLAIN = /[^\w,*.:/@+-]+/gu;
/** Can't be encoded. */
const HALF_A_PAIR = /\p{Surrogate}/gu;

/** Signs a spec whose blanks are gone. */
export function signText(spec: string, expiresAt: number, key: object): string {
  const plain = spec.replace(HALF_A_PAIR, '\u{FFFD}').replace(NOT_PLAIN, encodeURIComponent);
  const signed = `${plain};exp=${expiresAt}`;
  return `${signed};sig=${signatureOf(signed, key)}`;
}

/** Why a text turns nothing on. */
export type SignedTextProblem =
  'oversized' | 'duplicate' | 'malformed' | 'expired' | 'expiresTooLate' | 'badSignature';

/** What a text that one of the keys has signed says. */
export interface VerifiedText {
  readonly spec: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

const SHAPE = /^([^;]*);exp=(\d{1,15});sig=([\w-]{43})$/;

/**
 * Reads a text that anybody may have sent. What is cheap comes first: its length before anything else, the signature last. Each key
 * is compared in constant time, whether another one has fitted or not.
 */
export function verifyText(
  text: string,
  keys: readonly object[],
  now: number,
): VerifiedText | SignedTextProblem {
  if (text.length > MAX_SIGNED_LENGTH) return 'oversized';
  const found = SHAPE.exec(text);
  // Node joins the values of a header that comes twice.
  if (found === null) return text.split(';sig=').length > 2 ? 'duplicate' : 'malformed';
  const [, plain, until, signature] = found as unknown as [string, string, string, string];
  const expiresAt = Number(until);
  if (expiresAt <= now) return 'expired';
  if (expiresAt > now + MAX_SIGNED_TTL_MS + MAX_CLOCK_SKEW_MS) return 'expiresTooLate';
  const signed = `${plain};exp=${until}`;
  let isSigned = false;
  for (const key of keys) isSigned = isSame(signatureOf(signed, key), signature) || isSigned;
  if (!isSigned) return 'badSignature';
  try {
    return { spec: decodeURIComponent(plain), expiresAt };
  } catch {
    return 'malformed';
  }
}

function signatureOf(text: string, key: object): string {
  return createHmac('sha256', key as KeyObject)
    .update(text, 'utf8')
    .digest('base64url');
}

/** As texts: several of them stand for the same bytes, and only one of those was signed. */
function isSame(expected: string, given: string): boolean {
  return timingSafeEqual(Buffer.from(expected), Buffer.from(given));
}
