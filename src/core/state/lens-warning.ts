import type { SpanGroupChange } from './span-group-change.js';

/** The subject of a {@link LensWarning}. Codes are stable, so filter by them. */
export type LensWarningCode =
  | 'GROUP_COLLISION'
  | 'PRESET_MEMBER_UNREGISTERED'
  | 'NAME_STYLE'
  | 'PRESET_SHADOWS_GROUP'
  | 'LATE_REGISTRATION'
  | 'NOTHING_REGISTERED'
  | 'SPEC_INVALID'
  | 'SPEC_NOT_SHARED'
  | 'SPEC_WITHOUT_ENABLED'
  | 'VARIABLE_UNKNOWN'
  | 'SPEC_UNRESOLVED'
  | 'SPEC_SELECTED_NOTHING'
  | 'SPEC_SOURCE_FAILED'
  | 'SPEC_SOURCE_RECOVERED'
  | 'SPEC_SOURCE_NOT_ENDED'
  | 'UNKNOWN_GROUP_AT_SITE'
  | 'ATTRIBUTES_FAILED'
  | 'CARRIER_FAILED'
  | 'IS_ERROR_FAILED'
  | 'SPAN_FAILED'
  | 'CONFIG_INVALID'
  | 'SETUP_FAILED'
  | 'EXPORT_FAILED'
  | 'EXPORT_RECOVERED'
  | 'FLUSH_INCOMPLETE'
  | 'SDK_DISABLED'
  | 'NO_TRACER_PROVIDER'
  | 'PROVIDER_KEPT'
  | 'OPTIONS_IGNORED'
  | 'INSTRUMENTATION_LATE'
  | 'INSTRUMENTATION_FAILED'
  | 'SDK_UNKNOWN_SHAPE'
  | 'RECENT_TRACES_UNSEEN'
  | 'INSTRUMENTATIONS_UNGATED'
  | 'INSTRUMENTATION_OPTION_INVALID'
  | 'INSTRUMENTATION_OPTION_UNMATCHED'
  | 'REQUEST_OPT_IN_KEY'
  | 'REQUEST_OPT_IN_ALLOW'
  | 'REQUEST_OPT_IN_IGNORED'
  | 'AUTO_GROUPS_INVALID'
  | 'AUTO_GROUPS_UNMATCHED'
  | 'NO_SHUTDOWN_HOOKS'
  | 'CALLS_BEFORE_SETUP'
  | 'CHANGE_AUTHOR_UNKNOWN'
  | 'ROOT_MISSING'
  | 'HANDLERS_TRACED_TWICE'
  | 'STATE_PROTOCOL_MISMATCH';

/** One warning: a stable `code`, the sentence, and the facts in it. */
export interface LensWarning {
  /** The subject, as a stable word. */
  readonly code: LensWarningCode;
  /** What is wrong, what the choices are and what to do next, for people. One line; what it quotes is escaped and cut. */
  readonly message: string;
  /**
   * The facts in the message, by name: namespaces, groups, the spec, the error. They depend on the code, and are neither
   * escaped nor cut.
   */
  readonly details: Readonly<Record<string, unknown>>;
}

/** Where warnings go. */
export interface LensLogger {
  /** Takes one warning. It may call the registry; NestLens ignores what it throws or rejects with. */
  warn(message: string, warning: LensWarning): void;
  /**
   * Takes one change of the spec in force, as information: who changed it from what to what, and until when. Without this
   * method, Nest's `Logger` gets it at the level `log`; outside of Nest it is dropped.
   */
  info?(message: string, change: SpanGroupChange): void;
}

export interface RecordedWarning {
  readonly code: string;
  readonly message: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}
