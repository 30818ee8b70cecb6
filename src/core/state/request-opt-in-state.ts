import type { SpanGroupSpec } from './spec-layers.js';

/** How requests with the header `x-lens-groups` are judged, and counts of the outcomes. */
export interface RequestOptIn {
  /** The keys that headers may be signed with: Node's `KeyObject`s, which print no key. */
  readonly keys: readonly object[];
  /** The groups that a request may turn on. */
  readonly allow: SpanGroupSpec;
  /** Whether outgoing requests carry the signed text on. */
  readonly propagate: boolean;
  /** Outcome -> the number of requests. */
  readonly counts: Map<string, number>;
  /** Message, such as an outcome -> the time of its last log line, in milliseconds of `performance.now()`. */
  readonly saidAt: Map<string, number>;
  /** Functions that close the gates of one request each. */
  readonly ends: Set<() => void>;
  /** Stops reading headers, and closes those gates. */
  readonly stop: () => void;
}
