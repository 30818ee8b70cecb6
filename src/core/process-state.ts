import type { Span } from '@opentelemetry/api';
import type { LensLogger, RecordedWarning } from './warnings.js';
import type { InstrumentationLike } from './setup-options.js';
import type { SpanGroupSpec } from './span-group-spec.js';
import { VERSION } from './version.js';

/**
 * The one slot on `globalThis` that every copy of the package in this process shares: the CommonJS and the ESM build,
 * two installed versions, a module registry that a test runner has reset.
 *
 * The contract, in short; docs/shared-state.md is the whole of it. The slot holds *data*: plain objects, maps, sets,
 * strings. Each copy brings its own functions; nothing in here is a class instance of ours, and nobody tells things in
 * here apart by `instanceof`. Within protocol 1 fields may be added, with a default in `createProcessState` that
 * `completeSlot` gives to a slot without them; none may be removed, renamed or given another meaning. A change that an
 * older copy could not live with raises the number in the key and in `protocol`, and from then on the two worlds don't
 * share.
 */
const PROTOCOL = 1;
const KEY_PREFIX = 'nest-lens.state.';
const KEY = Symbol.for(`${KEY_PREFIX}${PROTOCOL}`);

/** The switch of one group. Interned: sites hold the object, so asking it is one field load. */
export interface SpanGate {
  readonly name: string;
  enabled: boolean;
}

/** What one namespace registered, as it was normalised. */
export interface NamespaceRegistration {
  readonly groups: ReadonlySet<string>;
  readonly presets: ReadonlyMap<string, ReadonlySet<string>>;
}

/** A spec in force (kept or override) with what its wildcards match by now and what was last said about it. */
export interface SpecLayer {
  readonly spec: SpanGroupSpec;
  /** Wildcard text -> number of live groups it matches; kept up to date so that re-resolving needn't scan. */
  readonly wildcardMatches: Map<string, number>;
  lastReport: string | undefined;
}

export interface OverrideLayer extends SpecLayer {
  /** Milliseconds since the epoch; undefined: until it is cleared. */
  readonly expiresAt: number | undefined;
  timer: ReturnType<typeof setTimeout> | undefined;
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
}

export interface ProcessState {
  readonly protocol: number;
  /** Version of the copy that made the slot; for diagnostics only. */
  readonly version: string;
  readonly namespaces: Map<string, NamespaceRegistration>;
  /** Derived from `namespaces`: group -> the namespaces that own it. A group is live while it is a key here. */
  readonly groupOwners: Map<string, Set<string>>;
  /** Derived: preset -> the namespaces that define it. */
  readonly presetOwners: Map<string, Set<string>>;
  /** Derived: preset member -> preset -> number of namespaces that put it there. */
  readonly presetsOfMember: Map<string, Map<string, number>>;
  readonly gates: Map<string, SpanGate>;
  readonly enabled: Set<string>;
  kept: SpecLayer | undefined;
  override: OverrideLayer | undefined;
  pinned: boolean;
  /** True from the end of an enabled set-up until its shutdown: registrations are late from then on. */
  setUp: boolean;
  logger: LensLogger | undefined;
  /** Where warnings go while no logger was set: Nest's, once the module runs; else the console. */
  defaultLogger: LensLogger | undefined;
  readonly recordedWarnings: RecordedWarning[];
  readonly telemetry: TelemetryState;
  /** Whether a copy has said that another protocol's state is in this process. */
  foreignReported?: boolean | undefined;
  /** How many Nest applications without telemetry keep the groups pinned off. */
  pinHolders?: number | undefined;
  /** Rises whenever an application's routes become known or go; what was derived from them is then out of date. */
  routesEpoch?: number | undefined;
  /** What the routes of each live application follow from, Nest's own objects; weak, since a test may never close its own. */
  readonly routeSources: Set<WeakRef<object>>;
  /** Namespace -> how many applications hold on to it; only those that the Nest layer registered. */
  readonly holds: Map<string, number>;
  /** The set-up that Nest applications of this process share. */
  shared: SharedSetUp | undefined;
  /** The spans under way. Absent in a slot that an older copy made, until a newer one is loaded. */
  openSpans?: OpenSpans;
  /** Group -> how many spans it made, while metrics are on; else absent. */
  spanCounts?: Map<string, { count: number }> | undefined;
  /** The SDK that `nest-lens/register` started, until a set-up takes it over. */
  early?: EarlyStart | undefined;
  /** Why that start failed, so that a set-up that fails for the same reason needn't say so again. */
  earlyFailure?: string | undefined;
  /** The instrumentations that it started. They have patched what the application has loaded, so later set-ups use them too. */
  earlyInstrumentations?: readonly InstrumentationLike[] | undefined;
  /** The instrumentations that a shutdown has disabled. */
  disabledInstrumentations?: WeakSet<InstrumentationLike> | undefined;
}

export interface SharedSetUp {
  /** Applications that use it and haven't begun to close. */
  users: number;
  /** Those that are closing, each an object of its own. */
  leaving?: Set<object>;
  readonly ready: Promise<SharedHandle>;
  /** Once it is made. */
  handle?: SharedHandle;
}

/** A link of the ring of spans that NestLens has under way. */
export interface OpenSpanLink {
  readonly span: Span | undefined;
  readonly sequence: number;
  older: OpenSpanLink;
  newer: OpenSpanLink;
}

/** The spans under way: those of NestLens in a ring, which costs less than a set does, and those of others in a map. */
export interface OpenSpans {
  /** Where the ring begins and ends; has no span. */
  readonly ring: OpenSpanLink;
  /** How many are in the ring. */
  count: number;
  /** Counts spans as they start, to tell which is newer. */
  sequence: number;
  readonly others: Map<Span, number>;
  /** While NestLens, in whatever copy, starts a span of its own, which goes into the ring if it lasts. */
  isStartingOwn?: boolean;
}

/** The links stay whole: each is still going to take itself out. */
export function clearOpenSpans(openSpans: OpenSpans): void {
  const { ring, others } = openSpans;
  for (let link = ring.older; link !== ring;) {
    const { older } = link;
    link.older = link;
    link.newer = link;
    link = older;
  }
  ring.older = ring;
  ring.newer = ring;
  openSpans.count = 0;
  others.clear();
}

export function createOpenSpans(): OpenSpans {
  const ring = { span: undefined, sequence: 0 } as OpenSpanLink;
  ring.older = ring;
  ring.newer = ring;
  return { ring, count: 0, sequence: 0, others: new Map(), isStartingOwn: false };
}

/** The part of a handle that applications share. */
export interface SharedHandle {
  readonly mode: 'own' | 'attach' | null;
  readonly isExporting: boolean;
  /** Absent in a handle that an older copy made. */
  flushAhead?(timeoutMs: number): Promise<void>;
  shutdown(timeoutMs?: number, limitMs?: number): Promise<void>;
}

/** Structural: the copy that started the SDK may be another one than the copy that takes it over. */
export interface EarlyStart {
  /** What it was started with, to be compared. */
  readonly settings: string;
  /** On the resource of every span; a set-up that names none takes it over. */
  readonly runId?: string;
  /** Whether it made a tracer provider. It doesn't where the environment turns traces off. Absent: it did. */
  readonly hasTracerProvider?: boolean;
  /** Hands it over: from now on somebody else ends it. */
  take(): void;
  readonly isExporting: boolean;
  forceFlush(): Promise<void>;
  shutdown(): Promise<void>;
  release(): void;
}

function createTelemetryState(): TelemetryState {
  return {
    phase: 'off',
    stopped: undefined,
    enabled: false,
    exporting: false,
    mode: null,
    configuredSpec: '',
    specSource: 'default',
  };
}

function createProcessState(): ProcessState {
  return {
    protocol: PROTOCOL,
    version: VERSION,
    namespaces: new Map(),
    groupOwners: new Map(),
    presetOwners: new Map(),
    presetsOfMember: new Map(),
    gates: new Map(),
    enabled: new Set(),
    kept: undefined,
    override: undefined,
    pinned: false,
    setUp: false,
    logger: undefined,
    defaultLogger: undefined,
    recordedWarnings: [],
    telemetry: createTelemetryState(),
    routeSources: new Set(),
    holds: new Map(),
    shared: undefined,
    openSpans: createOpenSpans(),
    early: undefined,
  };
}

/** The versions of other protocols' slots found on `globalThis`, e.g. `{ key: 'nest-lens.state.2', version: '3.0.0' }`. */
export interface ForeignState {
  readonly key: string;
  readonly version: string;
}

function findForeignState(): ForeignState | undefined {
  for (const symbol of Object.getOwnPropertySymbols(globalThis)) {
    const key = Symbol.keyFor(symbol);
    if (symbol === KEY || key?.startsWith(KEY_PREFIX) !== true) continue;
    const slot = (globalThis as Record<symbol, unknown>)[symbol] as { version?: unknown } | undefined;
    return { key, version: String(slot?.version) };
  }
  return undefined;
}

/** What every copy of this protocol has kept from the first one on. Without them it isn't this protocol, whatever it says. */
const ORIGINAL_FIELDS = [
  'namespaces',
  'groupOwners',
  'presetOwners',
  'presetsOfMember',
  'gates',
  'enabled',
  'telemetry',
] as const;

function isOurProtocol(found: Partial<ProcessState> | null): found is ProcessState {
  return found?.protocol === PROTOCOL && ORIGINAL_FIELDS.every((name) => found[name] != null);
}

function fillIn(target: object, fields: object): void {
  for (const [name, value] of Object.entries(fields)) {
    if (!(name in target)) Reflect.set(target, name, value);
  }
}

/** Adds what this copy knows besides to a slot that an older one made; that one doesn't mind. */
function completeSlot(slot: ProcessState): ProcessState {
  fillIn(slot, createProcessState());
  fillIn(slot.telemetry, createTelemetryState());
  return slot;
}

function openSlot(): { state: ProcessState; foreign: ForeignState | undefined } {
  const slots = globalThis as unknown as Record<symbol, Partial<ProcessState> | null | undefined>;
  const found = slots[KEY];
  if (found !== undefined) {
    if (isOurProtocol(found)) return { state: completeSlot(found), foreign: findForeignState() };
    // Somebody wrote another shape under our key: keep to ourselves rather than write into it.
    return {
      state: createProcessState(),
      foreign: { key: `${KEY_PREFIX}${PROTOCOL}`, version: String(found?.version) },
    };
  }
  const state = createProcessState();
  const foreign = findForeignState();
  // A frozen globalThis refuses the property: this copy then works alone.
  Reflect.defineProperty(globalThis, KEY, {
    value: state,
    enumerable: false,
    configurable: true,
    writable: false,
  });
  return { state, foreign };
}

const opened = openSlot();

/**
 * The state of this process. Read once, at import: the object in the slot never changes, only its content does, so that
 * a gate costs no look-up.
 */
export const processState: ProcessState = opened.state;

/** A slot of another protocol that was there when this copy was loaded; `warnings` says so, once. */
export const foreignState: ForeignState | undefined = opened.foreign;

/**
 * Takes NestLens back to how it is when a process starts: no registrations (those made at import are gone too), no spec,
 * no logger, every group off. For tests, exported by `nest-lens/testing` as `resetNestLens`. It doesn't shut telemetry down;
 * close the application first. Sites keep working.
 *
 * @example
 * afterEach(() => resetNestLens());
 */
export function resetProcessState(): void {
  const state = processState;
  clearTimeout(state.override?.timer);
  state.namespaces.clear();
  state.groupOwners.clear();
  state.presetOwners.clear();
  state.presetsOfMember.clear();
  for (const gate of state.gates.values()) gate.enabled = false;
  state.enabled.clear();
  state.kept = undefined;
  state.override = undefined;
  state.pinned = false;
  state.setUp = false;
  state.logger = undefined;
  state.defaultLogger = undefined;
  state.recordedWarnings.length = 0;
  Object.assign(state.telemetry, createTelemetryState());
  state.holds.clear();
  state.pinHolders = undefined;
  state.shared = undefined;
  if (state.openSpans !== undefined) clearOpenSpans(state.openSpans);
  state.spanCounts = undefined;
  state.early = undefined;
  state.earlyFailure = undefined;
}
