import { REDACTED, typeOfItems } from '../spans/span-attributes.js';
import { defaultRedaction } from '../spans/secret-keys.js';
import { boundedAttributes } from './bounded-attributes.js';

/**
 * Keys that stay readable, although `safeSetSpanAttributes` redacts them by their last word. People look for the statement of
 * a slow request, and instrumentations replace its values by placeholders.
 */
const READABLE: ReadonlySet<string> = new Set(['db.query.text']);

/**
 * Attributes that may be shown to people. Secrets are redacted by the words of `safeSetSpanAttributes`, because
 * instrumentations and `span.setAttribute` don't redact. Long texts are cut.
 */
export function visibleAttributes(attributes: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const bounded = boundedAttributes(attributes);
  for (const [key, value] of Object.entries(bounded)) {
    const isRedacted =
      !READABLE.has(key) && defaultRedaction(key).some((type) => type === typeOfItems(value));
    if (isRedacted) bounded[key] = REDACTED;
  }
  return bounded;
}
