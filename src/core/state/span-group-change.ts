/** One change of which span groups are asked for. */
export interface SpanGroupChange {
  /** When, in ISO 8601. */
  readonly at: string;
  /** The spec that was in force; while the groups are pinned, their names. */
  readonly before: string;
  /** The spec that is in force since. */
  readonly after: string;
  /** When that one ends by itself, in ISO 8601; null if it doesn't. */
  readonly until: string | null;
  /**
   * Who: what `introspection.runtimeControl.by` says of the request, null if it says nothing. What no request has changed is in
   * parentheses: `(code)`, `(expired)`, the name of the source that the spec comes from.
   */
  readonly by: string | null;
}
