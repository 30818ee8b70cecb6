import { AsyncLocalStorage } from 'node:async_hooks';
import type { Context, Span, SpanOptions } from '@opentelemetry/api';
import { processState } from '../core/state/process-state.js';
import type { ProcessState } from '../core/state/state-shape.js';

/** The tracer that makes a span. */
export interface Scope {
  readonly name: string;
  readonly version?: string;
}

/** The members of a testbed that the process uses; it may belong to another copy of the package. */
export interface ScopedTestbed {
  /** The state that `processState` answers with. */
  readonly state: ProcessState;
  /** The testbed in whose flow it was made. */
  readonly outer: ScopedTestbed | undefined;
  startSpan(scope: Scope, name: string, options: SpanOptions, parent: Context): Span;
}

interface Flow {
  readonly testbed: ScopedTestbed;
  /** Whether this very testbed counts, even if a newer one was made in its flow. */
  readonly isExact: boolean;
  /** False in the turn in which the testbed is made. A testbed that is made in that turn didn't wait for it. */
  hasBegun: boolean;
}

interface Scopes {
  readonly flows: AsyncLocalStorage<Flow>;
  /** The testbeds that aren't disposed, oldest first. */
  readonly alive: ScopedTestbed[];
  /** Functions that undo the changes in the process when the last testbed goes. */
  readonly restores: (() => void)[];
}

const SCOPES = Symbol.for('nest-lens.testbeds');

/** One object for all copies of the package, beside the shared state. */
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
 * The testbed of the running code: the newest one that was made in its flow. So tests that run at the same time are told
 * apart. Code in no testbed's flow, such as a server that started before, belongs to the newest testbed.
 */
export function currentTestbed(): ScopedTestbed | undefined {
  const { flows, alive } = scopes();
  const flow = flows.getStore();
  const around = nearestAlive(flow?.testbed);
  if (flow?.isExact === true && around === flow.testbed) return around;
  return alive.findLast((testbed) => isWithin(testbed, around));
}

/** The testbed in whose flow a new testbed is made. Of several that are begun in one turn, none is in another's flow. */
export function outerTestbed(): ScopedTestbed | undefined {
  const flow = scopes().flows.getStore();
  return nearestAlive(flow?.hasBegun === false ? flow.testbed.outer : flow?.testbed);
}

/** Runs a function in a testbed, whichever others there are. */
export function runInTestbed<T>(testbed: ScopedTestbed, fn: () => T): T {
  return scopes().flows.run({ testbed, isExact: true, hasBegun: true }, fn);
}

/**
 * Adds a testbed, and makes the rest of the caller's flow its own.
 *
 * @param change makes the changes in the process; returns a function that undoes them
 */
export function addTestbed(testbed: ScopedTestbed, change: (isFirst: boolean) => () => void): void {
  const { flows, alive, restores } = scopes();
  alive.push(testbed);
  restores.push(change(alive.length === 1));
  const flow: Flow = { testbed, isExact: false, hasBegun: false };
  flows.enterWith(flow);
  // A promise, because fake timers may have replaced queueMicrotask.
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
