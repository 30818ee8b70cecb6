import { AsyncLocalStorage } from 'node:async_hooks';
import type { Context, Span, SpanOptions } from '@opentelemetry/api';
import { processState } from '../core/state/process-state.js';
import type { ProcessState } from '../core/state/state-shape.js';

/** The tracer that makes a span. */
export interface Scope {
  readonly name: string;
  readonly version?: string;
}

/** What the process asks of a testbed; it may belong to another copy of the package. */
export interface ScopedTestbed {
  /** What `processState` answers in it. */
  readonly state: ProcessState;
  /** The testbed in whose flow it was made. */
  readonly outer: ScopedTestbed | undefined;
  startSpan(scope: Scope, name: string, options: SpanOptions, parent: Context): Span;
}

interface Flow {
  readonly testbed: ScopedTestbed;
  /** Whether this testbed itself is meant, also where a newer one was made in its flow. */
  readonly isExact: boolean;
  /** False in the turn in which the testbed is made: whoever makes the next one then has not waited for it. */
  hasBegun: boolean;
}

interface Scopes {
  readonly flows: AsyncLocalStorage<Flow>;
  /** Those that aren't disposed, the oldest first. */
  readonly alive: ScopedTestbed[];
  /** How what was changed for them in the process is taken back, when the last one goes. */
  readonly restores: (() => void)[];
}

const SCOPES = Symbol.for('nest-lens.testbeds');

/** One for all copies of the package, beside the state that they share. */
function scopes(): Scopes {
  const holder = processState as { [SCOPES]?: Scopes };
  if (holder[SCOPES] === undefined) {
    const value: Scopes = { flows: new AsyncLocalStorage(), alive: [], restores: [] };
    Object.defineProperty(holder, SCOPES, { value, configurable: true });
  }
  return holder[SCOPES]!;
}

/** The testbed, or the nearest one around it, that isn't disposed. */
function nearestAlive(testbed: ScopedTestbed | undefined): ScopedTestbed | undefined {
  const { alive } = scopes();
  let found = testbed;
  while (found !== undefined && !alive.includes(found)) found = found.outer;
  return found;
}

function isWithin(testbed: ScopedTestbed, outer: ScopedTestbed | undefined): boolean {
  if (outer === undefined || testbed === outer) return true;
  return testbed.outer !== undefined && isWithin(testbed.outer, outer);
}

/**
 * The testbed that the running code belongs to: the newest one of those that were made in its flow, which tells tests that
 * run at the same time apart. Code that runs in no testbed's flow, such as a server that was started before, belongs to the
 * newest one of all.
 */
export function currentTestbed(): ScopedTestbed | undefined {
  const { flows, alive } = scopes();
  const flow = flows.getStore();
  const around = nearestAlive(flow?.testbed);
  if (flow?.isExact === true && around === flow.testbed) return around;
  return alive.findLast((testbed) => isWithin(testbed, around));
}

/** The one in whose flow a testbed is that is made now. Of several that are begun in one turn none is in another's flow. */
export function outerTestbed(): ScopedTestbed | undefined {
  const flow = scopes().flows.getStore();
  return nearestAlive(flow?.hasBegun === false ? flow.testbed.outer : flow?.testbed);
}

/** Runs something in a testbed, whichever others there are. */
export function runInTestbed<T>(testbed: ScopedTestbed, fn: () => T): T {
  return scopes().flows.run({ testbed, isExact: true, hasBegun: true }, fn);
}

/**
 * Makes a testbed one of those that are alive, and the rest of the caller's flow its own.
 *
 * @param change changes what there is to change in the process; returns how that is taken back
 */
export function addTestbed(testbed: ScopedTestbed, change: (isFirst: boolean) => () => void): void {
  const { flows, alive, restores } = scopes();
  alive.push(testbed);
  restores.push(change(alive.length === 1));
  const flow: Flow = { testbed, isExact: false, hasBegun: false };
  flows.enterWith(flow);
  // A promise, since fake timers may have taken queueMicrotask.
  void Promise.resolve().then(() => (flow.hasBegun = true));
}

export function removeTestbed(testbed: ScopedTestbed): void {
  const { alive, restores } = scopes();
  const at = alive.indexOf(testbed);
  if (at < 0) return;
  alive.splice(at, 1);
  if (alive.length > 0) return;
  for (const restore of restores.splice(0).reverse()) restore();
}
