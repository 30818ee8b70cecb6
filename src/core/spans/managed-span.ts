import type { Span } from '@opentelemetry/api';
import type { SpanGroupName } from '../groups/span-group-names.js';
import { processState } from '../state/process-state.js';
import { missingFunction } from './missing-function.js';
import { runInSpan } from './span-outcome.js';
import { planSpan, type SiteOptions } from './span-plan.js';

// Measured: a field that is read through the imported binding costs a call 0.5 ns more.
const state = processState;
const { open } = state;

type Body<T> = (span: Span | undefined) => T;

/**
 * Runs a piece of code inside a span, if its group is on. Inside, it is the active span. It covers a promise, observable or
 * async generator that the body returns. If the body throws, the span is an error. The caller always gets the same result or
 * the same thrown value.
 *
 * While the group is off, it calls the body with `undefined` and does nothing else: it computes no attributes, looks up no
 * tracer, and returns the result untouched. A group that is not registered is always off. The warning `UNKNOWN_GROUP_AT_SITE`
 * says so once, if the call is among the first 100,000 after the set-up.
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
 * The same, with options: `managedSpan(group, name, options, fn)`. It reads no option while the group is off.
 *
 * @param group the name as it is registered, in lower case
 * @param name the span's name
 * @param options see {@link SiteOptions}; attributes given as a function are computed only while the group is on
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
  // The gate comes first. The on path is in another function, so that this one stays small enough to be inlined.
  if (!open.has(group)) {
    state.noteOffCall?.('managedSpan', group, name);
    const body = fn ?? (optionsOrFn as Body<T>);
    return typeof body === 'function' ? body(undefined) : refuse(group, name, body);
  }
  return runManaged(group, name, optionsOrFn as SiteOptions, fn ?? (optionsOrFn as Body<T>));
}

function runManaged<T>(group: string, name: string, options: SiteOptions, body: Body<T>): T {
  if (typeof body !== 'function') refuse(group, name, body);
  if (state.isAdmitted?.(group, name) === false) return body(undefined);
  return runInSpan(planSpan(name, (options as unknown) === body ? undefined : options, group), body);
}

function refuse(group: string, name: string, given: unknown): never {
  const usage = 'managedSpan(group, name, fn) or managedSpan(group, name, options, fn)';
  throw missingFunction('managedSpan', [group, name], given, usage);
}
