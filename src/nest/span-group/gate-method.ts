import 'reflect-metadata';
import { context, type Context, type Span } from '@opentelemetry/api';
import { type AnyFunction, gateFunction } from '../../core/spans/gated-function.js';
import { copyMetadata } from '../../core/spans/mirror-function.js';
import { processState } from '../../core/state/process-state.js';
import { spanGate } from '../../core/groups/span-gate.js';
import { runInSpan } from '../../core/spans/span-outcome.js';
import { joinCaller } from './callers-trace.js';
import { classNameOf } from './class-name.js';
import { findCover, withCoveredCall } from './covered-call.js';
import type { GateLoan } from './gate-loan.js';
import { GATED_METHOD_METADATA, type GatedMethod, gatedMethodAmong, gatedMethodOf } from './gated-method.js';
import { describeCall, type MethodSite, planOfCall } from './handler-span.js';
import { createPlanner, type PlannedMethod } from './method-planner.js';
import { isOfOtherApplication } from './receivers.js';

/**
 * Puts a method behind the gate of its group, and keeps the metadata of its decorators. An earlier gate is replaced. If a
 * foreign wrapper, which is kept, stands above the earlier gate, both count as one call.
 */
export function gateMethod(current: AnyFunction, site: MethodSite): AnyFunction {
  const keys = Reflect.getOwnMetadataKeys(current);
  return createGate(current, site, keys, gatedMethodAmong(keys, current)).wrapper;
}

/**
 * The same for a method whose metadata and present gate are known, because each look into them takes microseconds at a start.
 *
 * @param keys those of its metadata
 */
export function createGate(
  current: AnyFunction,
  site: MethodSite,
  keys: readonly unknown[],
  former: GatedMethod | undefined,
  loan?: GateLoan,
): GatedMethod {
  // A foreign wrapper stands above the earlier gate, and now a decorator above that: the upper one decides.
  if (former !== undefined && former.wrapper !== current && !site.onClass) former.superseded = true;
  const original = former?.wrapper === current ? former.original : current;
  const hasGateBehind = former !== undefined && original === current;
  const gate = spanGate(site.group);
  // Made at the first call that is on, because most methods of an application never have one.
  let planFor: ((receiver: unknown) => PlannedMethod) | undefined;
  const on: AnyFunction = function (...args) {
    if (gated.superseded || (gated.loan !== undefined && isOfOtherApplication(this, gated.loan.borrowers))) {
      return Reflect.apply(original, this, args);
    }
    if (processState.missedCalls !== undefined && !isMissed(site)) return Reflect.apply(original, this, args);
    // Measured: looking up the active context once instead of three times is 15 % of a span without an SDK.
    const outside = context.active();
    const cover = findCover(outside, gated, this, site.key, args);
    if (cover !== undefined) {
      const { span, spanName, runIn } = cover;
      describeCall(span, spanName, site, args);
      return runIn === undefined
        ? Reflect.apply(original, this, args)
        : runWithin(runIn, span, spanName, gated, this, args);
    }
    if (processState.isAdmitted?.(gate.name, siteName(site), outside) === false) {
      return Reflect.apply(original, this, args);
    }
    planFor ??= createPlanner(site, wrapper);
    const { plan: planOfClass, hasOtherGate } = planFor(this);
    let plan = planOfCall(planOfClass, site, args);
    let parent = outside;
    if (site.options.carrier !== undefined) {
      ({ plan, parent } = joinCaller(plan, site.options, args, outside));
    }
    const work = (span: Span): unknown =>
      hasOtherGate || hasGateBehind
        ? runWithin(context.active(), span, plan.name, gated, this, args)
        : Reflect.apply(original, this, args);
    return runInSpan(plan, work, parent);
  };
  const wrapper = gateFunction(gate, original, on, current === original ? keys : undefined);
  if (current !== original) copyMetadata(current, wrapper, keys);
  const gated: GatedMethod = { wrapper, original, site, superseded: false, loan };
  Reflect.defineMetadata(GATED_METHOD_METADATA, gated, wrapper);
  return gated;
}

/** The name of a site in counts. */
export function siteName({ Class, key }: MethodSite): string {
  return `${classNameOf(Class)}.${String(key)}`;
}

/** Providers call each other while an application starts. Without a decorator, no spans of those calls are expected. */
function isMissed({ auto }: MethodSite): boolean {
  return auto === undefined || auto === 'handlers';
}

/** Runs a method whose call has its span, and notes that in the context, for the gates further on. */
function runWithin(
  outside: Context,
  span: Span,
  spanName: string,
  gated: GatedMethod,
  receiver: unknown,
  args: readonly unknown[],
): unknown {
  const call = { span, spanName, method: gated, receiver, methodKey: gated.site.key };
  const inside = withCoveredCall(outside, call);
  return context.with(inside, () => Reflect.apply(gated.original, receiver, args as unknown[]));
}

/** The method without its gate, with the metadata that it got since. */
export function ungateMethod(current: AnyFunction): AnyFunction {
  const gated = gatedMethodOf(current);
  if (gated?.wrapper !== current) {
    if (gated !== undefined) gated.superseded = true;
    // A foreign wrapper may have copied the mark, but this method is no site any more.
    Reflect.deleteMetadata(GATED_METHOD_METADATA, current);
    return current;
  }
  copyMetadata(current, gated.original);
  Reflect.deleteMetadata(GATED_METHOD_METADATA, gated.original);
  return gated.original;
}
