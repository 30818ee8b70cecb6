import type { AttributeValue, Span } from '@opentelemetry/api';
import { defaultRedaction, type Redaction, redactionBy } from './secret-keys.js';

export const REDACTED = '[REDACTED]';

/**
 * Sets attributes on a span from values of any type. It sets strings, finite numbers, booleans and arrays of one such type,
 * and silently drops all other values. It does nothing if there is no span (the group is off) or the span doesn't record.
 * Never throws.
 *
 * It replaces a value or a whole array by `[REDACTED]` if the last word of its key names a secret: `apiKey`,
 * `user.passwordHash`, `http.request.header.authorization`. Plurals redact strings only, so `usage.input_tokens` is kept
 * where it is a number; `token.count` and `cache.key` are kept, and booleans (`has_password`). The page on attributes and
 * redaction has the words.
 *
 * @param span what the body of `managedSpan` was given
 * @param attributes any record
 * @param options `redactKeys` are words that replace the default ones, in any case; a compound one (`first_name`) is matched
 * by the last words of a key
 *
 * @example
 * managedSpan('orders', 'orders.place', (span) => {
 *   safeSetSpanAttributes(span, { 'order.id': order.id, 'order.items': order.items.length });
 * });
 */
export function safeSetSpanAttributes(
  span: Span | undefined,
  attributes: Record<string, unknown>,
  options: { redactKeys?: Iterable<string> } = {},
): void {
  try {
    if (!span?.isRecording()) return;
    const redactionOf = redactionFor(options);
    for (const key of Object.keys(attributes ?? {})) {
      if (key !== '') setAttribute(span, key, attributes, redactionOf);
    }
  } catch {
    // It is no span, or a proxy that doesn't list its keys.
  }
}

/** If a given set of words can't be read, no secret may get out: the default words count. */
function redactionFor(options: { redactKeys?: Iterable<string> } | null): (key: string) => Redaction {
  try {
    const redactKeys = options?.redactKeys;
    return redactKeys === undefined ? defaultRedaction : redactionBy(redactKeys);
  } catch {
    return defaultRedaction;
  }
}

function setAttribute(
  span: Span,
  key: string,
  attributes: Record<string, unknown>,
  redactionOf: (key: string) => Redaction,
): void {
  try {
    const value = attributes[key];
    if (!isAttributeValue(value)) return;
    const isRedacted = redactionOf(key).some((type) => type === typeOfItems(value));
    span.setAttribute(key, isRedacted ? REDACTED : value);
  } catch {
    // A getter or proxy that throws has no value to set.
  }
}

/** The type of a value, or of the items of a list. */
export function typeOfItems(value: unknown): string {
  return typeof (Array.isArray(value) ? (value as unknown[])[0] : value);
}

function isAttributeValue(value: unknown): value is AttributeValue {
  if (!Array.isArray(value)) return isScalar(value);
  const kind = typeof value[0];
  return value.every((item) => isScalar(item) && typeof item === kind);
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
}
