import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';

/**
 * The text that turns groups on for one request: `<spec>;exp=<ms since the epoch>;sig=<HMAC-SHA-256, base64url>`. The part
 * before `;sig=` is signed.
 *
 * It names no request, so everybody who sees one may use it until it expires. That only turns spans on, and preventing it
 * would take a list of used texts that all processes share.
 */

/** The name of the header, and of the entry in the baggage. */
export const OPT_IN_HEADER = 'x-lens-groups';
/** The longest signed text. Longer ones aren't read. */
export const MAX_SIGNED_LENGTH = 2_048;
/** The longest time until a text expires, in milliseconds. */
export const MAX_SIGNED_TTL_MS = 86_400_000;
/** The signer's clock may be this far ahead, in milliseconds. Expired texts have no grace period. */
const MAX_CLOCK_SKEW_MS = 60_000;

/** What a key may be. */
export type SigningKey = string | Uint8Array;

/**
 * Makes a key that doesn't print: Node's `KeyObject` shows neither its bytes nor its text. The type is `object`, because
 * users who compile against this package may not have Node's types.
 */
export function secretKey(key: SigningKey): object {
  return createSecretKey(typeof key === 'string' ? Buffer.from(key, 'utf8') : Buffer.from(key));
}

/** Characters other than those that have no special meaning in a header, in baggage and in the signed text. */
const NOT_PLAIN = /[^\w,*.:/@+-]+/gu;
/** Can't be encoded. */
const HALF_A_PAIR = /\p{Surrogate}/gu;

/** Signs a spec without blanks. */
export function signText(spec: string, expiresAt: number, key: object): string {
  const plain = spec.replace(HALF_A_PAIR, '\u{FFFD}').replace(NOT_PLAIN, encodeURIComponent);
  const signed = `${plain};exp=${expiresAt}`;
  return `${signed};sig=${signatureOf(signed, key)}`;
}

/** The reason why a text turns nothing on. */
export type SignedTextProblem =
  'oversized' | 'duplicate' | 'malformed' | 'expired' | 'expiresTooLate' | 'badSignature';

/** The content of a verified text. */
export interface VerifiedText {
  readonly spec: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

const SHAPE = /^([^;]*);exp=(\d{1,15});sig=([\w-]{43})$/;

/**
 * Reads a text from an unknown sender. The cheap checks come first: length at the beginning, signature at the end. It
 * compares every key in constant time, even after one has matched.
 */
export function verifyText(
  text: string,
  keys: readonly object[],
  now: number,
): VerifiedText | SignedTextProblem {
  if (text.length > MAX_SIGNED_LENGTH) return 'oversized';
  const found = SHAPE.exec(text);
  // Node joins the values of a header that is sent twice.
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

/** Compares texts, because several texts decode to the same bytes and only one of them was signed. */
function isSame(expected: string, given: string): boolean {
  return timingSafeEqual(Buffer.from(expected), Buffer.from(given));
}
