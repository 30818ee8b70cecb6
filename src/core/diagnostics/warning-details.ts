import type { LensWarningCode } from '../state/lens-warning.js';
import type { ExportFailure } from './export-failure.js';

/** The names in the registry, for messages that list the choices. Every list is sorted. */
export interface RegistryInventory {
  readonly groups: readonly string[];
  /** With `all`. */
  readonly presets: readonly string[];
  readonly namespaces: readonly string[];
}

/** Warning code -> the facts that its message quotes. */
export interface WarningDetails {
  GROUP_COLLISION: { namespace: string; otherNamespace: string; groups: readonly string[] };
  PRESET_MEMBER_UNREGISTERED: { namespace: string; preset: string; members: readonly string[] };
  NAME_STYLE: { namespace: string; names: readonly string[] };
  PRESET_SHADOWS_GROUP: { namespace: string; name: string };
  LATE_REGISTRATION: { namespace: string };
  /** `isAwaited`: groups come with the first spans that instrumentations ask for. */
  NOTHING_REGISTERED: { spec: string; isAwaited?: boolean };
  SPEC_INVALID: { problem: string };
  SPEC_NOT_SHARED: { variable: string; spec: string };
  SPEC_WITHOUT_ENABLED: { variable: string; enabledVariable: string };
  VARIABLE_UNKNOWN: { variable: string; nearest: string };
  SPEC_UNRESOLVED: RegistryInventory & {
    spec: string;
    /** Whether the spec was set; else it is the default. */
    isSet: boolean;
    pending: readonly string[];
    /** Pending entry -> the name that it probably means, for the first ten at most. */
    nearest: Readonly<Record<string, string>>;
  };
  SPEC_SELECTED_NOTHING: RegistryInventory & { spec: string };
  SPEC_SOURCE_FAILED: FailureOfSource & {
    source: string;
    /** Whether it has given a spec before, or said that there is none. */
    hasGiven: boolean;
  };
  SPEC_SOURCE_RECOVERED: { source: string };
  SPEC_SOURCE_NOT_ENDED: FailureOfSource & { source: string };
  UNKNOWN_GROUP_AT_SITE: { site: string; group: string; nearest: string | undefined };
  ATTRIBUTES_FAILED: { span: string; error: unknown };
  CARRIER_FAILED: { span: string; error: unknown };
  IS_ERROR_FAILED: { span: string; error: unknown };
  SPAN_FAILED: { span: string; error: unknown };
  CONFIG_INVALID: { error: unknown };
  SETUP_FAILED: { error: unknown };
  EXPORT_FAILED: { failure: ExportFailure; error: unknown; spansLost: number };
  EXPORT_RECOVERED: { spansLost: number };
  FLUSH_INCOMPLETE: { failure: ExportFailure; error: unknown; timeoutMs: number };
  SDK_DISABLED: Record<string, never>;
  NO_TRACER_PROVIDER: Record<string, never>;
  PROVIDER_KEPT: Record<string, never>;
  OPTIONS_IGNORED:
    | { reason: 'second app' | 'second forRoot'; options: readonly string[] }
    | { reason: 'early start'; options?: undefined };
  INSTRUMENTATION_LATE: { modules: readonly string[] };
  INSTRUMENTATION_FAILED: { instrumentation: string; error: unknown };
  SDK_UNKNOWN_SHAPE: { part: UnknownShape };
  RECENT_TRACES_UNSEEN: Record<string, never>;
  INSTRUMENTATIONS_UNGATED: {
    /** The spans that flow whatever the spec says. */
    spans: 'none' | 'earlier tracers' | 'all' | 'failed gates';
    /** Whether `trace.getActiveSpan()` can be a span that is off. */
    isOffSpanActive: boolean;
    /** Why gates have failed. */
    error?: unknown;
  };
  /** `nearest` is the known option that an unknown key probably means. */
  INSTRUMENTATION_OPTION_INVALID: {
    option: string;
    given: string;
    used: string | undefined;
    nearest?: string | undefined;
  };
  INSTRUMENTATION_OPTION_UNMATCHED: { option: string; name: string; nearest: string | undefined };
  /** `bytes` is the length of the key; 0 means that there is none. */
  REQUEST_OPT_IN_KEY: { option: string; bytes: number };
  /** Entries of `allow` that match nothing. An empty list means that `allow` has no entry. */
  REQUEST_OPT_IN_ALLOW: { pending: readonly string[]; nearest: Readonly<Record<string, string>> };
  /** `requests` is the number of those requests so far. */
  REQUEST_OPT_IN_IGNORED: { problem: string; requests: number };
  AUTO_GROUPS_INVALID: { option: string; given: string; wanted: string; used: string | undefined };
  AUTO_GROUPS_UNMATCHED: { option: string; name: string; nearest: string | undefined };
  NO_SHUTDOWN_HOOKS: Record<string, never>;
  /** `sites` lists each with its number of calls, the busiest first. */
  CALLS_BEFORE_SETUP: { calls: number; sites: readonly string[]; isInitialised: boolean };
  CHANGE_AUTHOR_UNKNOWN: { error: unknown };
  /** What the application imports of the module. */
  ROOT_MISSING: { has: 'forFeature' | 'nothing' };
  HANDLERS_TRACED_TWICE: Record<string, never>;
  STATE_PROTOCOL_MISMATCH: { version: string; otherKey: string; otherVersion: string };
}

/** The endpoint shows a reason, but no error. */
type FailureOfSource = { reason: string; error?: undefined } | { reason?: undefined; error: unknown };

/** The part of the SDK, or of an instrumentation, that NestLens doesn't recognise. */
export type UnknownShape = 'processors' | 'exporter' | 'batch processor' | 'resource' | 'modules';

/** A warning to give. It is logged only when the change that caused it is complete. */
export type Warning = { [C in LensWarningCode]: { code: C; details: WarningDetails[C] } }[LensWarningCode];
