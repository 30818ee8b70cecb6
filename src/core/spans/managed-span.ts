import type { Span } from '@opentelemetry/api';
import { isAdmitted } from '../groups/admission.js';
import { noteOffCall } from '../groups/off-calls.js';
import type { SpanGroupName } from '../groups/span-group-names.js';
import { processState } from '../state/process-state.js';
import { missingFunction } from './missing-function.js';
import { runInSpan } from './span-outcome.js';
import { planSpan, type SiteOptions } from './span-plan.js';

const { open } = processState;

type Body<T> = (span: Span | undefined) => T;

/**
 * Runs a piece of code inside a span, if its group is on. The span is the active one inside, covers a promise, observable
 * or async generator that the body returns, and takes what the body throws as its error; the caller gets the same result
 * or the same thrown value either way.
 *
 * While the group is off the body is called with `undefined`, and nothing else happens: no attributes are computed, no
 * tracer is looked up, the result is handed back untouched. A group that nobody has registered is always off; one warning says
 * so, `UNKNOWN_GROUP_AT_SITE`, if it is named among the first 100,000 calls after the set-up.
 *
 * @param group the name as it is registered, in lower case; it is not normalised on each call
 * @param name the span's name
 * @param fn the work; gets the span, or `undefined` while the group is off
 * @throws TypeError if there is no function to run
 *
 * @example
 * const order = await managedSpan('orders', 'orders.place', async (span) => {
 *   const placed = await place(cart);
 *   span?.setAttribute('order.id', placed.id);
 *   return placed;
 * });
 */
export function managedSpan<T>(group: SpanGroupName, name: string, fn: (span: Span | undefined) => T): T;
/**
 * The same, with options: `managedSpan(group, name, options, fn)`. None of them is looked at while the group is off.
 *
 * @param group the name as it is registered, in lower case
 * @param name the span's name
 * @param options see {@link SiteOptions}; give attributes as a function to have them computed only when the group is on
 * @param fn the work; gets the span, or `undefined` while the group is off
 */
export function managedSpan<T>(
  group: SpanGroupName,
  name: string,
  options: SiteOptions,
  fn: (span: Span | undefined) => T,
): T;
export function managedSpan<T>(
  group: string,
  name: string,
  optionsOrFn: SiteOptions | Body<T>,
  fn?: Body<T>,
): T {
  // The gate comes first. Everything the on path needs is in another function, so that this one stays small enough to
  // be inlined where it is called.
  if (!open.has(group)) {
    if (processState.areOffCallsNoted) noteOffCall('managedSpan', group, name);
    const body = fn ?? (optionsOrFn as Body<T>);
    return typeof body === 'function' ? body(undefined) : refuse(group, name, body);
  }
  return runManaged(group, name, optionsOrFn as SiteOptions, fn ?? (optionsOrFn as Body<T>));
}

function runManaged<T>(group: string, name: string, options: SiteOptions, body: Body<T>): T {
  if (typeof body !== 'function') refuse(group, name, body);
  if (processState.isAdmissionAsked && !isAdmitted(group, name)) return body(undefined);
  return runInSpan(planSpan(name, (options as unknown) === body ? undefined : options, group), body);
}

function refuse(group: string, name: string, given: unknown): never {
  const usage = 'managedSpan(group, name, fn) or managedSpan(group, name, options, fn)';
  throw missingFunction('managedSpan', [group, name], given, usage);
}
