import { type AnyFunction, gateFunction } from './gated-function.js';
import { checkText } from '../diagnostics/argument-error.js';
import { copyMetadata } from './mirror-function.js';
import { missingFunction } from './missing-function.js';
import { runInSpan } from './span-outcome.js';
import { planSpan, type SiteOptions, type SpanPlan } from './span-plan.js';
import type { SpanGroupName } from '../groups/span-group-names.js';
import { spanGate } from '../groups/span-gate.js';
import { noteTracedFunction } from '../groups/traced-functions.js';
import { processState } from '../state/process-state.js';

/**
 * Wraps a function so that each call runs inside a span, if the group is on at that moment. A synchronous function stays
 * synchronous; `name`, `length`, `this`, own properties and metadata stay. The span covers the same work as that of
 * `managedSpan`, and errors are handled the same way.
 *
 * While the group is off, a call reads one field, allocates nothing, and goes straight to the function.
 *
 * @param group normalised here, once (trimmed, lower case)
 * @param name the span's name
 * @param options see {@link SiteOptions}; an attributes function runs for each call while the group is on
 * @returns a function that wraps another one and keeps its type; it throws a TypeError for anything but a function
 * @throws TypeError for a group that is not a string
 *
 * @example
 * export const priceOf = traceFn('pricing', 'pricing.price-of')((item: Item) => item.price * item.quantity);
 */
export function traceFn(
  group: SpanGroupName,
  name: string,
  options?: SiteOptions,
): <F extends (...args: never[]) => unknown>(fn: F) => F {
  checkText('traceFn: group', group);
  const gate = spanGate(group);
  noteTracedFunction(gate.name, name);
  let fixed: SpanPlan | undefined;
  const planCall = (): SpanPlan => {
    const plan = planSpan(name, options, gate.name);
    if (!hasAttributesFunction(options)) fixed = plan;
    return plan;
  };
  return <F extends (...args: never[]) => unknown>(fn: F): F => {
    if (typeof fn !== 'function') {
      throw missingFunction('traceFn', [group, name], fn, 'traceFn(group, name, options?)(fn)');
    }
    const original = fn as unknown as AnyFunction;
    const on: AnyFunction = function (...args) {
      if (processState.isAdmitted?.(gate.name, name) === false) return Reflect.apply(original, this, args);
      return runInSpan(fixed ?? planCall(), () => Reflect.apply(original, this, args));
    };
    const wrapper = gateFunction(gate, original, { on });
    copyMetadata(original, wrapper);
    return wrapper as unknown as F;
  };
}

function hasAttributesFunction(options: SiteOptions | undefined): boolean {
  try {
    return typeof options?.attributes === 'function';
  } catch {
    return false; // A getter threw; `planSpan` has warned about it.
  }
}
