import { clearInFlight, createInFlight } from './in-flight.js';
import type { ProcessState } from './state-shape.js';
import type { TelemetryState } from './telemetry-state.js';
import { VERSION } from './version.js';

/**
 * The one slot on `globalThis` that every copy of the package in this process shares: the CommonJS and the ESM build,
 * two installed versions, a module registry that a test runner has reset.
 *
 * The contract, in short; docs/shared-state.md is the whole of it. The slot holds *data*: plain objects, maps, sets,
 * strings. Each copy brings its own code. The functions in the slot are those that the page lists, and nobody tells objects
 * in it apart by `instanceof`. `state-shape.ts` has its type. Once a version is published, a change of that type raises the
 * number in the key and in `protocol`; copies of two protocols don't share, and one of them says so.
 */
const PROTOCOL = 1;
const KEY_PREFIX = 'nest-lens.state.';
const KEY = Symbol.for(`${KEY_PREFIX}${PROTOCOL}`);

function createTelemetryState(): TelemetryState {
  return {
    phase: 'off',
    stopped: undefined,
    exporting: false,
    mode: null,
    configuredSpec: '',
    specSource: 'default',
    exports: undefined,
    forceFlush: undefined,
  };
}

/** The state of a process that has just started. */
export function createProcessState(): ProcessState {
  return {
    protocol: PROTOCOL,
    version: VERSION,
    namespaces: new Map(),
    booting: new Set(),
    registeredInBoot: undefined,
    gates: new Map(),
    tracedFunctions: new Map(),
    instrumentationScopes: new Map(),
    providerGates: new WeakMap(),
    enabled: new Set(),
    open: new Set(),
    isAdmitted: undefined,
    isSetUpExpected: false,
    heldOpen: new Map(),
    preview: undefined,
    requestOptIn: undefined,
    noteOffCall: undefined,
    offCallsNoted: 0,
    judgedNames: new Map(),
    configured: undefined,
    sourced: undefined,
    override: undefined,
    pinned: false,
    setUp: false,
    logger: undefined,
    defaultLogger: undefined,
    recordedWarnings: [],
    changes: [],
    said: new Set(),
    saidFailures: new WeakSet(),
    silenced: new Set(),
    telemetry: createTelemetryState(),
    areClassesInGroups: false,
    lentGates: new WeakMap(),
    routeSources: new Set(),
    missedCalls: undefined,
    applications: new Set(),
    shared: undefined,
    inFlight: createInFlight(),
    spanCounts: undefined,
    recentTraces: undefined,
    verdicts: { answers: new Set(), clientErrors: 'unset', isError: undefined },
    early: { sdk: undefined, failure: undefined, instrumentations: [] },
    foreignReported: false,
    routesEpoch: 0,
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

function isOurProtocol(found: Partial<ProcessState> | null): found is ProcessState {
  if (found?.protocol !== PROTOCOL) return false;
  return Object.keys(createProcessState()).every((name) => name in found);
}

function openSlot(): { state: ProcessState; foreign: ForeignState | undefined } {
  const slots = globalThis as unknown as Record<symbol, Partial<ProcessState> | null | undefined>;
  const found = slots[KEY];
  if (found !== undefined) {
    if (isOurProtocol(found)) return { state: found, foreign: findForeignState() };
    // Another program has written a different shape under our key. This copy then keeps its state to itself.
    return {
      state: createProcessState(),
      foreign: { key: `${KEY_PREFIX}${PROTOCOL}`, version: String(found?.version) },
    };
  }
  const state = createProcessState();
  const foreign = findForeignState();
  // A frozen globalThis refuses the property. This copy then works alone.
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
 * The state of this process. It is read once, at import: the object in the slot never changes, only its content, so that
 * asking a gate needs no look-up.
 */
export const processState: ProcessState = opened.state;

/** A slot of another protocol that existed when this copy was loaded; `warnings` reports it once. */
export const foreignState: ForeignState | undefined = opened.foreign;

/** Fields that a reset leaves as they are, and objects of which it resets a part, below. */
const KEPT_AT_RESET: ReadonlySet<keyof ProcessState> = new Set<keyof ProcessState>([
  ...([
    'protocol',
    'version',
    'foreignReported',
    'routeSources',
    'routesEpoch',
    'silenced',
    'lentGates',
    'providerGates',
    'areClassesInGroups',
  ] as const),
  ...(['gates', 'inFlight', 'telemetry', 'verdicts', 'early'] as const),
]);

/**
 * Resets NestLens to its state at the start of a process: no registrations (not even those made at import), no spec, no
 * logger, every group off. It is for tests; `nest-lens/testing` exports it as `resetNestLens`. It doesn't shut telemetry
 * down; close the application first. Sites keep working.
 *
 * @example
 * afterEach(() => resetNestLens());
 */
export function resetProcessState(): void {
  const state = processState;
  const { requestOptIn, preview, recentTraces, override, gates, telemetry, verdicts, early } = state;
  requestOptIn?.stop();
  // Ended now, so that its caller gets an answer. Ended later, it would close gates that are held for others by then.
  preview?.end();
  recentTraces?.stop();
  clearTimeout(override?.timer);
  clearInFlight(state.inFlight);
  for (const gate of gates.values()) gate.enabled = false;
  const initial = createProcessState();
  for (const key of Object.keys(initial) as (keyof ProcessState)[]) {
    if (KEPT_AT_RESET.has(key)) continue;
    const value: unknown = state[key];
    // Such a field says by its presence that something goes on: that an application boots, or that calls are counted.
    if (initial[key] === undefined) Reflect.set(state, key, undefined);
    // Other copies hold these, so they are emptied in place.
    else if (value instanceof Map || value instanceof Set) value.clear();
    else if (Array.isArray(value)) value.length = 0;
    else Reflect.set(state, key, initial[key]);
  }
  Object.assign(telemetry, createTelemetryState());
  Object.assign(verdicts, { clientErrors: 'unset', isError: undefined });
  // The instrumentations stay, because what they have patched stays patched.
  Object.assign(early, { sdk: undefined, failure: undefined });
}
