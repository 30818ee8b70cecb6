import { clearInFlight, createInFlight } from './in-flight.js';
import type { ProcessState } from './state-shape.js';
import type { TelemetryState } from './telemetry-state.js';
import { VERSION } from './version.js';

/**
 * The one slot on `globalThis` that every copy of the package in this process shares: the CommonJS and the ESM build,
 * two installed versions, a module registry that a test runner has reset.
 *
 * The contract, in short; docs/shared-state.md is the whole of it. The slot holds *data*: plain objects, maps, sets,
 * strings. Each copy brings its own functions; nothing in here is a class instance of ours, and nobody tells things in
 * here apart by `instanceof`. Its shape is that of `state-shape.ts`. Once a version is published, a change of shape raises
 * the number in the key and in `protocol`; copies of two protocols don't share, and one of them says so.
 */
const PROTOCOL = 1;
const KEY_PREFIX = 'nest-lens.state.';
const KEY = Symbol.for(`${KEY_PREFIX}${PROTOCOL}`);

function createTelemetryState(): TelemetryState {
  return {
    phase: 'off',
    stopped: undefined,
    enabled: false,
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
    registeredInBoot: undefined,
    gates: new Map(),
    tracedFunctions: new Map(),
    instrumentationScopes: new Map(),
    enabled: new Set(),
    open: new Set(),
    isAdmissionAsked: false,
    isAdmitted: undefined,
    isSetUpExpected: false,
    heldOpen: new Map(),
    preview: undefined,
    endPreview: undefined,
    requestOptIn: undefined,
    areOffCallsNoted: false,
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
    silenced: new Set(),
    telemetry: createTelemetryState(),
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
  state.requestOptIn?.stop();
  // Who waits for it has to hear, and what it holds is let go now: later that would close a gate that somebody else holds.
  state.endPreview?.();
  clearTimeout(state.override?.timer);
  state.namespaces.clear();
  state.registeredInBoot = undefined;
  state.tracedFunctions.clear();
  for (const gate of state.gates.values()) gate.enabled = false;
  state.instrumentationScopes.clear();
  state.enabled.clear();
  state.open.clear();
  state.isAdmissionAsked = false;
  state.isAdmitted = undefined;
  state.isSetUpExpected = false;
  state.heldOpen.clear();
  state.preview = undefined;
  state.endPreview = undefined;
  state.areOffCallsNoted = false;
  state.noteOffCall = undefined;
  state.offCallsNoted = 0;
  state.judgedNames.clear();
  state.configured = undefined;
  state.sourced = undefined;
  state.override = undefined;
  state.pinned = false;
  state.setUp = false;
  state.logger = undefined;
  state.defaultLogger = undefined;
  state.recordedWarnings.length = 0;
  state.changes.length = 0;
  state.said.clear();
  Object.assign(state.telemetry, createTelemetryState());
  state.missedCalls = undefined;
  state.applications.clear();
  state.shared = undefined;
  clearInFlight(state.inFlight);
  state.spanCounts = undefined;
  state.recentTraces?.stop();
  state.recentTraces = undefined;
  state.verdicts.clientErrors = 'unset';
  state.verdicts.isError = undefined;
  // The instrumentations stay, because what they have patched stays patched.
  Object.assign(state.early, { sdk: undefined, failure: undefined });
}
