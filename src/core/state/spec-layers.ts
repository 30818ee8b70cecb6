export interface SpanGroupSpec {
  /** As it was given. */
  readonly raw: string;
  /** Its presets, groups and patterns, in lower case. */
  readonly included: readonly string[];
  /** Its entries with a leading `-`, without that sign. */
  readonly excluded: readonly string[];
}

/** The configured spec, or that of an override, and the last report about it. */
export interface SpecLayer {
  readonly spec: SpanGroupSpec;
  lastReport: string | undefined;
}

/** The last spec of a source. */
export interface SourcedLayer extends SpecLayer {
  /** The name of the source. */
  readonly source: string;
}

export interface OverrideLayer extends SpecLayer {
  /** Its end, in milliseconds of `performance.now()`; undefined if it stays until it is cleared. */
  readonly endsAt: number | undefined;
  /** `Date.now()` minus `performance.now()` at its beginning. */
  readonly clockOffset: number;
  timer: ReturnType<typeof setTimeout> | undefined;
}
