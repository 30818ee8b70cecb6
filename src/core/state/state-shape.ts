import type { Span } from '@opentelemetry/api';
import type { LensLogger, RecordedWarning } from './lens-warning.js';
import type { RecentTraces } from './recent-traces.js';
import type { SpanGroupChange } from './span-group-change.js';

/** The switch of one group. Interned: sites hold the object, so asking it is one field load. */
export interface SpanGate {
  readonly name: string;
  enabled: boolean;
}

/** What one namespace registered: names that are normalised, unique and sorted. */
export interface NamespaceRegistration {
  readonly groups: readonly string[];
  /** Preset -> its members, which may be groups of other namespaces, or of none. */
  readonly presets: Readonly<Record<string, readonly string[]>>;
  readonly origin: RegistrationOrigin;
}

/** Who registered, for errors. */
export interface RegistrationOrigin {
  /** The function that was called. */
  readonly api: string;
  /** Where it was called. */
  readonly stack?: string;
}

export interface SpanGroupSpec {
  /** As it was given. */
  readonly raw: string;
  /** Its entries: presets, groups and patterns, in lower case. */
  readonly included: readonly string[];
  /** Those with a leading `-`, without it. */
  readonly excluded: readonly string[];
}

/** The configured spec, or that of an override, and what was last said about it. */
export interface SpecLayer {
  readonly spec: SpanGroupSpec;
  lastReport: string | undefined;
}

/** The spec that a source gave last. */
export interface SourcedLayer extends SpecLayer {
  /** What the source is called. */
  readonly source: string;
}

export interface OverrideLayer extends SpecLayer {
  /** When it ends, in milliseconds of `performance.now()`; undefined: when it is cleared. */
  readonly endsAt: number | undefined;
  /** What `Date.now()` was ahead of `performance.now()` when it began. */
  readonly clockOffset: number;
  timer: ReturnType<typeof setTimeout> | undefined;
}

/** What a tracer was made for, as OpenTelemetry calls it: mostly an instrumentation's package. */
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
  /** What became of the spans so far; undefined where NestLens doesn't see the exporter. */
  exports: ExportCounts | undefined;
  /** That of the handle, while telemetry is live. */
  forceFlush: ((timeoutMs?: number) => Promise<void>) | undefined;
}

/** What became of the spans that were given to exporters since the set-up. */
export interface ExportCounts {
  /** Milliseconds since the epoch of the last export that arrived. */
  lastExportAt: number | undefined;
  spansExported: number;
  /** In exports that failed, or because the queue of a batch processor was full. */
  spansLost: number;
}

export interface ProcessState {
  readonly protocol: number;
  /** Version of the copy that made the slot; for diagnostics only. */
  readonly version: string;
  /** Everything that is registered; what else is known of groups and presets is worked out from it. */
  readonly namespaces: Map<string, NamespaceRegistration>;
  /** The namespaces that registered while an application boots: whether their presets fit is judged at the end of it. */
  registeredInBoot: Set<string> | undefined;
  readonly gates: Map<string, SpanGate>;
  /** Group -> the span of the first function that is traced in it, and whether it was asked if the group is registered. */
  readonly tracedFunctions: Map<string, { readonly span: string; isJudged: boolean }>;
  /** Group -> the scopes whose spans it gates, while the spans of instrumentations are gated. */
  readonly instrumentationScopes: Map<string, readonly InstrumentationScope[]>;
  /** The groups that are on. */
  readonly enabled: Set<string>;
  /** What sites ask: the groups that are on, and those whose gates something else holds open. */
  readonly open: Set<string>;
  /** Whether something else than the spec holds gates open. Behind an open gate a site then asks `isAdmitted`. */
  isAdmissionAsked: boolean;
  /** Whether an application has a module that will set telemetry up. */
  isSetUpExpected: boolean;
  /** Group -> how many hold its gate open, whether it is on or not. */
  readonly heldOpen: Map<string, number>;
  /** Group -> site -> how many spans it would have made, while a preview counts them. */
  preview: Map<string, Map<string, number>> | undefined;
  /** Ends that preview. */
  endPreview: (() => void) | undefined;
  /** While requests can turn groups on for themselves: how such a request is judged, and what became of them. */
  requestOptIn: RequestOptIn | undefined;
  /** Whether calls that name their group each time are looked at while it is off, to find names that nobody has registered. */
  areOffCallsNoted: boolean;
  /** How many of them have been looked at since the set-up. */
  offCallsNoted: number;
  /** Name that such a call gave -> whether it was registered. */
  readonly judgedNames: Map<string, boolean>;
  configured: SpecLayer | undefined;
  /** Over the configured spec; undefined while there is no source, or it has no spec. */
  sourced: SourcedLayer | undefined;
  override: OverrideLayer | undefined;
  pinned: boolean;
  /** True from the end of an enabled set-up until its shutdown: registrations are late from then on. */
  setUp: boolean;
  logger: LensLogger | undefined;
  /** Where warnings go while no logger was set: Nest's, once the module runs; else the console. */
  defaultLogger: LensLogger | undefined;
  readonly recordedWarnings: RecordedWarning[];
  /** The last changes of the spec in force, the oldest first. */
  readonly changes: SpanGroupChange[];
  /** What was warned about already, and is to be said once only. */
  readonly said: Set<string>;
  /** Warnings that are neither logged nor recorded, by code. Empty but in the testbeds of `nest-lens/testing`. */
  readonly silenced: Set<string>;
  readonly telemetry: TelemetryState;
  /** Whether a copy has said that another protocol's state is in this process. */
  foreignReported: boolean;
  /** Rises whenever an application's routes become known or go; what was derived from them is then out of date. */
  routesEpoch: number;
  /** What the routes of each live application follow from, Nest's own objects; weak, since a test may never close its own. */
  readonly routeSources: Set<WeakRef<object>>;
  /** Site -> its calls before telemetry was set up, while an application boots; every gate is open then. */
  missedCalls: Map<string, { readonly group: string; count: number }> | undefined;
  /** What each Nest application holds of the process. */
  readonly applications: Set<HeldByApplication>;
  /** The set-up that Nest applications of this process share. */
  shared: SharedSetUp | undefined;
  /** The spans under way. */
  readonly inFlight: InFlightSpans;
  /** Group -> how many spans it made, while metrics are on; else undefined. */
  spanCounts: Map<string, { count: number }> | undefined;
  /** While an application wants to see the last traces. */
  recentTraces: RecentTraces | undefined;
  readonly verdicts: Verdicts;
  readonly early: EarlyStart;
}

/** How a request that brings the header `x-lens-groups` is judged, and what became of them. */
export interface RequestOptIn {
  /** Those that the header may be signed with: Node's `KeyObject`s, which print no key. */
  readonly keys: readonly object[];
  /** What a request may turn on. */
  readonly allow: SpanGroupSpec;
  /** Whether the signed text goes out with the requests that are made meanwhile. */
  readonly propagate: boolean;
  /** Outcome -> how many requests. */
  readonly counts: Map<string, number>;
  /** What was said, such as an outcome -> when it was last said, in milliseconds of `performance.now()`. */
  readonly saidAt: Map<string, number>;
  /** Each closes the gates that a request holds open. */
  readonly ends: Set<() => void>;
  /** Takes back what looks at headers, and closes those gates. */
  readonly stop: () => void;
}

/** How thrown values are judged, in every copy of the package. */
export interface Verdicts {
  /**
   * Whether a thrown value is an answer to the caller, such as an `HttpException` below 500. The Nest layer of each copy says
   * so, since the core knows no Nest. They must not throw.
   */
  readonly answers: Set<(thrown: unknown) => boolean>;
  /** What an answer does to the status of a span that isn't a handler's. */
  clientErrors: 'unset' | 'error';
  /** What the application says of a thrown value; undefined leaves it to the rule. */
  isError: ((thrown: unknown) => boolean | undefined) | undefined;
}

/** What `nest-lens/register` has started before the application; `telemetry/early-sdk` owns it. */
export interface EarlyStart {
  /** Until a set-up takes it over. */
  sdk: EarlySdk | undefined;
  /** The message of the error for which that start failed. */
  failure: string | undefined;
  /** They have patched what the application has loaded, so every set-up of the process uses them. */
  instrumentations: readonly InstrumentationLike[];
}

/** What NestLens needs of an instrumentation, such as those of `@opentelemetry/auto-instrumentations-node`. */
export interface InstrumentationLike {
  /** Its package's name, e.g. `@opentelemetry/instrumentation-http`. */
  readonly instrumentationName: string;
  /** Patches what it instruments. */
  enable(): void;
  /** Takes the patches back. */
  disable(): void;
}

/** What one Nest application holds of the process, from its start until it has closed. */
export interface HeldByApplication {
  /** The namespaces that it has registered. */
  readonly namespaces: Set<string>;
  /** The set-up that it uses; `pinned`: it has none, and keeps every group off. */
  telemetry: SharedSetUp | 'pinned' | undefined;
  /** Nest may initialise an application again; telemetry is set up once. */
  settingUp: Promise<void> | undefined;
  isSetUp: boolean;
  /** From the beginning of its close. */
  isClosing: boolean;
  /** The end of its close; Nest 12 calls the hooks again on another one, and on Nest 11 two can overlap. */
  released: Promise<void> | undefined;
  /** For at most how many milliseconds its close waits for telemetry. */
  limitMs: number;
  /** The groups that it has asked for without a decorator, and the one of them that handlers are in. */
  autoGroups?: { readonly all: ReadonlySet<string>; readonly handlers: string | undefined };
}

/** The set-up that Nest applications of a process share. */
export interface SharedSetUp {
  /** What the application that made it asked for, to be compared with what others ask for. */
  readonly asked: Readonly<Record<string, unknown>>;
  readonly ready: Promise<SharedHandle>;
  /** Once it is made. */
  handle?: SharedHandle;
  /** Settles when its shutdown has begun; an application that takes its place waits for that. */
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

/** The spans under way: those of NestLens in a ring, which costs less than a set does, and those of others in a map. */
export interface InFlightSpans {
  /** Where the ring begins and ends; has no span. */
  readonly ring: InFlightLink;
  /** How many are in the ring. */
  count: number;
  /** Counts spans as they start, to tell which is newer. */
  sequence: number;
  readonly others: Map<Span, number>;
  /** While NestLens, in whatever copy, starts a span of its own, which goes into the ring if it lasts. */
  isStartingOwn: boolean;
}

/** The part of a handle that applications share. */
export interface SharedHandle {
  readonly mode: 'own' | 'attach' | null;
  readonly isExporting: boolean;
  shutdown(timeoutMs?: number, limitMs?: number): Promise<void>;
}

/** What a set-up flushes and shuts down: an SDK that runs, the application's provider, or nothing. */
export interface Pipeline {
  /** Whether spans go anywhere. */
  readonly isExporting: boolean;
  /** Undefined where NestLens doesn't see the exporter. */
  readonly exports: ExportCounts | undefined;
  /** Exports the spans that are waiting. */
  flushSpans(): Promise<void>;
  /** Exports what is waiting, metrics too. */
  forceFlush(): Promise<void>;
  /** Shuts down, which exports metrics once more. */
  shutdown(): Promise<void>;
  /** Takes back what was registered process-wide, so that an SDK can be started again, even if this one's shutdown hangs. */
  release(): void;
}

/** Structural: the copy that started the SDK may be another one than the copy that takes it over. */
export interface EarlySdk extends Pipeline {
  /** What it was started with, to be compared. */
  readonly settings: string;
  /** On the resource of every span. */
  readonly runId: string;
  /** Whether it made a tracer provider. It doesn't where the environment turns traces off. */
  readonly hasTracerProvider: boolean;
  /** Hands it over: from now on somebody else ends it. */
  take(): void;
}
