import type { Span } from '@opentelemetry/api';
import type { LensLogger, RecordedWarning } from './lens-warning.js';
import type { RecentTraces } from './recent-traces.js';
import type { SpanGroupChange } from './span-group-change.js';

/** The switch of one group. There is one object per group; sites keep it, so that asking costs one field load. */
export interface SpanGate {
  readonly name: string;
  enabled: boolean;
}

/** The registration of one namespace: names that are normalised, unique and sorted. */
export interface NamespaceRegistration {
  readonly groups: readonly string[];
  /** Preset -> its members. They may be groups of other namespaces, or not be registered. */
  readonly presets: Readonly<Record<string, readonly string[]>>;
  readonly origin: RegistrationOrigin;
}

/** The origin of a registration, for errors. */
export interface RegistrationOrigin {
  /** The function that was called. */
  readonly api: string;
  /** Where it was called. */
  readonly stack?: string;
}

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

/** The name and version that a tracer was made with, as OpenTelemetry calls it: mostly the package of an instrumentation. */
export interface InstrumentationScope {
  readonly name: string;
  readonly version?: string | undefined;
}

export interface TelemetryState {
  phase: 'off' | 'starting' | 'live' | 'stopping';
  /** Settles when a shutdown under way is done. */
  stopped: Promise<void> | undefined;
  enabled: boolean;
  exporting: boolean;
  mode: 'own' | 'attach' | null;
  configuredSpec: string;
  specSource: string;
  /** The counts of exported spans; undefined if NestLens doesn't see the exporter. */
  exports: ExportCounts | undefined;
  /** The handle's `forceFlush`, while telemetry is live. */
  forceFlush: ((timeoutMs?: number) => Promise<void>) | undefined;
}

/** The counts of the spans that exporters got since the set-up. */
export interface ExportCounts {
  /** The time of the last export that arrived, in milliseconds since the epoch. */
  lastExportAt: number | undefined;
  spansExported: number;
  /** Spans in exports that failed, or dropped because the queue of a batch processor was full. */
  spansLost: number;
}

export interface ProcessState {
  readonly protocol: number;
  /** The version of the copy that made the slot, for diagnostics only. */
  readonly version: string;
  /** Every registration. Groups and presets are computed from them. */
  readonly namespaces: Map<string, NamespaceRegistration>;
  /** The namespaces that registered while an application boots. Their presets are checked at the end of the boot. */
  registeredInBoot: Set<string> | undefined;
  readonly gates: Map<string, SpanGate>;
  /** Group -> the span of its first traced function, and whether the group's registration has been checked. */
  readonly tracedFunctions: Map<string, { readonly span: string; isJudged: boolean }>;
  /** Group -> the scopes whose spans it gates, while spans of instrumentations are gated. */
  readonly instrumentationScopes: Map<string, readonly InstrumentationScope[]>;
  /** The groups that are on. */
  readonly enabled: Set<string>;
  /** The set that sites ask: the groups that are on, and those whose gates are held open. */
  readonly open: Set<string>;
  /** Whether gates are held open for another reason than the spec. Sites behind an open gate then ask `isAdmitted`. */
  isAdmissionAsked: boolean;
  /** Whether an application has a module that will set telemetry up. */
  isSetUpExpected: boolean;
  /** Group -> how many times its gate is held open, whether the group is on or not. */
  readonly heldOpen: Map<string, number>;
  /** Group -> site -> the spans that it would have made, while a preview counts them. */
  preview: Map<string, Map<string, number>> | undefined;
  /** Ends that preview. */
  endPreview: (() => void) | undefined;
  /** How requests that turn groups on for themselves are judged, and what was decided; undefined while that is off. */
  requestOptIn: RequestOptIn | undefined;
  /** Whether calls that pass their group each time are checked while it is off, to find names that are not registered. */
  areOffCallsNoted: boolean;
  /** How many of those calls were checked since the set-up. */
  offCallsNoted: number;
  /** Name in such a call -> whether it was registered. */
  readonly judgedNames: Map<string, boolean>;
  configured: SpecLayer | undefined;
  /** The layer above the configured spec; undefined if there is no source, or the source has no spec. */
  sourced: SourcedLayer | undefined;
  override: OverrideLayer | undefined;
  pinned: boolean;
  /** True from the end of an enabled set-up until its shutdown. Registrations are late meanwhile. */
  setUp: boolean;
  logger: LensLogger | undefined;
  /** The logger while none was set: Nest's once the module runs, else the console. */
  defaultLogger: LensLogger | undefined;
  readonly recordedWarnings: RecordedWarning[];
  /** The last changes of the spec in force, oldest first. */
  readonly changes: SpanGroupChange[];
  /** Warnings that are given only once, and were given. */
  readonly said: Set<string>;
  /** The codes of warnings that are neither logged nor recorded. Only testbeds of `nest-lens/testing` use it. */
  readonly silenced: Set<string>;
  readonly telemetry: TelemetryState;
  /** Whether a copy has reported that the process has state of another protocol. */
  foreignReported: boolean;
  /**
   * Rises whenever the routes of an application become known or are dropped. Results that were computed from routes are then
   * stale.
   */
  routesEpoch: number;
  /**
   * Nest's own objects that the routes of each live application are computed from. They are weak, because a test may never
   * close its application.
   */
  readonly routeSources: Set<WeakRef<object>>;
  /** Site -> its calls before the set-up, while an application boots. Every gate is open then. */
  missedCalls: Map<string, { readonly group: string; count: number }> | undefined;
  /** The holds of each Nest application on the process. */
  readonly applications: Set<HeldByApplication>;
  /** The set-up that the Nest applications of this process share. */
  shared: SharedSetUp | undefined;
  /** The spans under way. */
  readonly inFlight: InFlightSpans;
  /** Group -> the number of its spans, while metrics are on; else undefined. */
  spanCounts: Map<string, { count: number }> | undefined;
  /** The last traces, while an application asks for them. */
  recentTraces: RecentTraces | undefined;
  readonly verdicts: Verdicts;
  readonly early: EarlyStart;
}

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

/** How thrown values are judged, in every copy of the package. */
export interface Verdicts {
  /**
   * Functions that say whether a thrown value is an answer to the caller, such as an `HttpException` below 500. The Nest
   * layer of each copy adds one, because the core knows no Nest. They must not throw.
   */
  readonly answers: Set<(thrown: unknown) => boolean>;
  /** The effect of an answer on the status of a span that isn't a handler's. */
  clientErrors: 'unset' | 'error';
  /** The application's verdict on a thrown value; undefined leaves it to the rule. */
  isError: ((thrown: unknown) => boolean | undefined) | undefined;
}

/** What `nest-lens/register` has started before the application. `telemetry/early-sdk` owns it. */
export interface EarlyStart {
  /** The SDK, until a set-up takes it over. */
  sdk: EarlySdk | undefined;
  /** The error message of a failed start. */
  failure: string | undefined;
  /** They have patched modules that the application has loaded, so every set-up of the process uses them. */
  instrumentations: readonly InstrumentationLike[];
}

/** The members that NestLens needs of an instrumentation, such as those of `@opentelemetry/auto-instrumentations-node`. */
export interface InstrumentationLike {
  /** Its package's name, e.g. `@opentelemetry/instrumentation-http`. */
  readonly instrumentationName: string;
  /** Patches the instrumented module. */
  enable(): void;
  /** Takes the patches back. */
  disable(): void;
}

/** The holds of one Nest application on the process, from its start until it has closed. */
export interface HeldByApplication {
  /** The namespaces that it has registered. */
  readonly namespaces: Set<string>;
  /** The set-up that it uses. `pinned` means that it has none and keeps every group off. */
  telemetry: SharedSetUp | 'pinned' | undefined;
  /** Settles with the set-up, which happens once, although Nest may initialise an application again. */
  settingUp: Promise<void> | undefined;
  isSetUp: boolean;
  /** True from the beginning of its close. */
  isClosing: boolean;
  /** Settles at the end of its close. Nest 12 calls the hooks again for a second close; on Nest 11, two closes can overlap. */
  released: Promise<void> | undefined;
  /** The longest time that its close waits for telemetry, in milliseconds. */
  limitMs: number;
  /** The groups of `autoGroups`, and the one among them that handlers are in. */
  autoGroups?: { readonly all: ReadonlySet<string>; readonly handlers: string | undefined };
}

/** The set-up that Nest applications of a process share. */
export interface SharedSetUp {
  /** The options of the application that made it, to compare with those of others. */
  readonly asked: Readonly<Record<string, unknown>>;
  readonly ready: Promise<SharedHandle>;
  /** Once it is made. */
  handle?: SharedHandle;
  /** Settles when its shutdown has begun. An application that takes its place waits for that. */
  readonly ended: Promise<void>;
  readonly end: () => void;
}

/** A link of the ring of spans that NestLens has under way. */
export interface InFlightLink {
  readonly span: Span | undefined;
  readonly sequence: number;
  older: InFlightLink;
  newer: InFlightLink;
}

/** The spans under way: those of NestLens in a ring, which costs less than a set, and all others in a map. */
export interface InFlightSpans {
  /** The beginning and end of the ring; it has no span. */
  readonly ring: InFlightLink;
  /** The number of spans in the ring. */
  count: number;
  /** Counts spans as they start, to tell which one is newer. */
  sequence: number;
  readonly others: Map<Span, number>;
  /** True while any copy of NestLens starts a span of its own, which goes into the ring if it lasts. */
  isStartingOwn: boolean;
}

/** The part of a handle that applications share. */
export interface SharedHandle {
  readonly mode: 'own' | 'attach' | null;
  readonly isExporting: boolean;
  shutdown(timeoutMs?: number, limitMs?: number): Promise<void>;
}

/** The object that a set-up flushes and shuts down: a running SDK, the application's provider, or nothing. */
export interface Pipeline {
  /** Whether spans are exported. */
  readonly isExporting: boolean;
  /** Undefined if NestLens doesn't see the exporter. */
  readonly exports: ExportCounts | undefined;
  /** Exports the waiting spans. */
  flushSpans(): Promise<void>;
  /** Exports the waiting spans and the metrics. */
  forceFlush(): Promise<void>;
  /** Shuts down, which exports the metrics once more. */
  shutdown(): Promise<void>;
  /** Takes back process-wide registrations, so that an SDK can be started again, even if this shutdown hangs. */
  release(): void;
}

/** The type is structural: the copy that started the SDK may differ from the copy that takes it over. */
export interface EarlySdk extends Pipeline {
  /** The settings that it was started with, as text to compare. */
  readonly settings: string;
  /** The run id on the resource of every span. */
  readonly runId: string;
  /** Whether it made a tracer provider. It makes none if the environment turns traces off. */
  readonly hasTracerProvider: boolean;
  /** Hands the SDK over: the set-up ends it from now on. */
  take(): void;
}
