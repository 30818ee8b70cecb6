import type { AttributeValue, Span } from '@opentelemetry/api';

const REDACTED = '[REDACTED]';
const DEFAULT_REDACT_KEYS: ReadonlySet<string> = new Set([
  'prompt',
  'input_text',
  'output_text',
  'text',
  'password',
  'token',
  'secret',
  'key',
]);

/**
 * Sets attributes on a span from values of any type. Strings, finite numbers, booleans and arrays of one such kind are
 * set; everything else is dropped without a word. Does nothing on an absent span (the group is off) or one that doesn't
 * record. Never throws.
 *
 * A value, a whole array too, is replaced by `[REDACTED]` when its key, the last dotted part of the key, or the last word of that part (split
 * at `_` and `-`) is one of the redacted keys, in any case: `api_key` and `user.password` are, `token.count` isn't.
 *
 * @param span what the body of `managedSpan` was given
 * @param attributes any record
 * @param options `redactKeys` replaces the default set: prompt, input_text, output_text, text, password, token, secret, key
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
  if (span === undefined || !span.isRecording()) return;
  const redactKeys =
    options.redactKeys === undefined
      ? DEFAULT_REDACT_KEYS
      : new Set([...options.redactKeys].map((key) => String(key).toLowerCase()));
  for (const key of Object.keys(attributes ?? {})) {
    if (key === '') continue;
    try {
      const value = attributes[key];
      if (isAttributeValue(value)) span.setAttribute(key, isRedacted(key, redactKeys) ? REDACTED : value);
    } catch {
      // A getter or proxy that throws has no value to set.
    }
  }
}

function isRedacted(key: string, redactKeys: ReadonlySet<string>): boolean {
  const whole = key.toLowerCase();
  const part = whole.slice(whole.lastIndexOf('.') + 1);
  const word = part.slice(Math.max(part.lastIndexOf('_'), part.lastIndexOf('-')) + 1);
  return redactKeys.has(whole) || redactKeys.has(part) || redactKeys.has(word);
}

function isAttributeValue(value: unknown): value is AttributeValue {
  if (!Array.isArray(value)) return isScalar(value);
  const kind = typeof value[0];
  return value.every((item) => isScalar(item) && typeof item === kind);
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
}
