import type { Context, Span, SpanOptions, Tracer } from '@opentelemetry/api';
import type { EarlyStart } from './early-start-state.js';
import type { HeldByApplication, SharedSetUp } from './held-by-application.js';
import type { InFlightSpans } from './in-flight.js';
import type { RequestOptIn } from './request-opt-in-state.js';
import type { OverrideLayer, SourcedLayer, SpecLayer } from './spec-layers.js';
import type { TelemetryState } from './telemetry-state.js';
import type { LensLogger, RecordedWarning } from './lens-warning.js';
import type { RecentTraces } from './recent-traces-state.js';
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

/** The name and version that a tracer was made with, as OpenTelemetry calls it: mostly the package of an instrumentation. */
export interface InstrumentationScope {
  readonly name: string;
  readonly version?: string | undefined;
}

/** A tracer that tells its scope. A tracer is made with a name of any type, so its type says nothing about the scope. */
export interface ScopedTracer {
  readonly instrumentationScope?: unknown;
}

/** The gate of the tracers of a provider that don't tell their scope. These tracers outlive a set-up. */
export interface ProviderGate {
  /** Starts a span, or gives one that is off. Undefined while spans aren't gated. */
  startSpan:
    | ((
        tracer: ScopedTracer & { readonly original: Tracer },
        name: string,
        options?: SpanOptions,
        parent?: Context,
      ) => Span)
    | undefined;
}

/** Counts the calls of sites for a while, whether their groups are on or off. */
export interface RunningPreview {
  /** Group -> site -> the number of calls so far. */
  readonly counts: Map<string, Map<string, number>>;
  /** Ends the preview and lets go of the gates. A second call does nothing. */
  end(): void;
}

export interface ProcessState {
  readonly protocol: number;
  /** The version of the copy that made the slot, for diagnostics only. */
  readonly version: string;
  /** Every registration. Groups and presets are computed from them. */
  readonly namespaces: Map<string, NamespaceRegistration>;
  /** The applications that boot; an object for each. */
  readonly booting: Set<object>;
  /** The namespaces that registered while an application boots. Their presets are checked at the end of the boot. */
  registeredInBoot: Set<string> | undefined;
  readonly gates: Map<string, SpanGate>;
  /** Group -> the span of its first traced function, and whether the group's registration has been checked. */
  readonly tracedFunctions: Map<string, { readonly span: string; isJudged: boolean }>;
  /** Group -> the scopes whose spans it gates, while spans of instrumentations are gated. */
  readonly instrumentationScopes: Map<string, readonly InstrumentationScope[]>;
  /** A tracer provider -> the gate of its tracers, if they were gated one by one. */
  readonly providerGates: WeakMap<object, ProviderGate>;
  /** The groups that are on. */
  readonly enabled: Set<string>;
  /** The set that sites ask: the groups that are on, and those whose gates are held open. */
  readonly open: Set<string>;
  /**
   * Decides whether a call behind an open gate gets a span. Set only while gates are held open for another reason than the
   * spec. It is a function in the state, so that a program that only asks whether a group is on doesn't bundle the code
   * behind it.
   */
  isAdmitted: ((group: string, site: string | undefined, context?: Context) => boolean) | undefined;
  /** Whether an application has a module that will set telemetry up. */
  isSetUpExpected: boolean;
  /** Group -> how many times its gate is held open, whether the group is on or not. */
  readonly heldOpen: Map<string, number>;
  /** The preview that is counting, if any. */
  preview: RunningPreview | undefined;
  /** How requests that turn groups on for themselves are judged, and counts of the outcomes; undefined while that is off. */
  requestOptIn: RequestOptIn | undefined;
  /**
   * Sites that get their group with each call pass it to this function while the group is off. It finds names that are not
   * registered, and counts calls before the set-up. Set only for the first 100,000 calls after a set-up, and before one. It
   * is a function for the same reason as `isAdmitted`.
   */
  noteOffCall: ((api: string, group: string, span: string | undefined) => void) | undefined;
  /** How many of those calls were looked at since the set-up. */
  offCallsNoted: number;
  /** Name in such a call -> whether it was registered. */
  readonly judgedNames: Map<string, boolean>;
  configured: SpecLayer | undefined;
  /** The layer above the configured spec; undefined if there is no source, or the source has no spec. */
  sourced: SourcedLayer | undefined;
  override: OverrideLayer | undefined;
  pinned: boolean;
  /** True from the end of an enabled set-up until its shutdown. A registration in that time is late. */
  setUp: boolean;
  logger: LensLogger | undefined;
  /**
   * The logger that counts while `logger` is undefined: Nest's, once the module runs. Without either, warnings go to the
   * console.
   */
  defaultLogger: LensLogger | undefined;
  readonly recordedWarnings: RecordedWarning[];
  /** The last changes of the spec in force, oldest first. */
  readonly changes: SpanGroupChange[];
  /** Warnings that are given only once, and were given. */
  readonly said: Set<string>;
  /** Errors of exports that a warning has reported, or would report again later. A flush that fails with one says nothing new. */
  readonly saidFailures: WeakSet<object>;
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
  /** Whether a decorator has put a class into a group. Until then, no class inherits one. */
  areClassesInGroups: boolean;
  /** Prototype -> the last gate that an application has lent to one of its methods, without a decorator. */
  readonly lentGates: WeakMap<object, object>;
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
