/** One change of the spec in force. */
export interface SpanGroupChange {
  /** When, in ISO 8601. */
  readonly at: string;
  /** The earlier spec; while the groups were pinned, their names. */
  readonly before: string;
  /** The spec since then. */
  readonly after: string;
  /** The end of that spec, in ISO 8601; null if it has none. */
  readonly until: string | null;
  /**
   * The author: the answer of `introspection.runtimeControl.by` for the request, or null if it gives none. Changes without a
   * request have an author in parentheses, `(code)` or `(expired)`, or the name of the source.
   */
  readonly by: string | null;
}
