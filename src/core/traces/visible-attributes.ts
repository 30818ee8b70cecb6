import { REDACTED, typeOfItems } from '../spans/span-attributes.js';
import { defaultRedaction } from '../spans/secret-keys.js';
import { boundedAttributes } from './bounded-attributes.js';

/**
 * Keys that stay readable, although their last word redacts them where `safeSetSpanAttributes` sets them: a statement is what one
 * looks for in a slow request, and instrumentations put placeholders where the values were.
 */
const READABLE: ReadonlySet<string> = new Set(['db.query.text']);

/**
 * Attributes as a person may see them: secrets are redacted by the words of `safeSetSpanAttributes`, whoever has set them, since
 * instrumentations and `span.setAttribute` don't redact; long texts are cut.
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
