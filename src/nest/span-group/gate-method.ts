import 'reflect-metadata';
import { context, type Context, type Span } from '@opentelemetry/api';
import { type AnyFunction, type BehindGate, gateFunction } from '../../core/spans/gated-function.js';
import { copyMetadata, mirrorProperties, shareProperties } from '../../core/spans/mirror-function.js';
import { processState } from '../../core/state/process-state.js';
import type { SpanGate } from '../../core/state/state-shape.js';
import { spanGate } from '../../core/groups/span-gate.js';
import { runInSpan } from '../../core/spans/span-outcome.js';
import { joinCaller } from './callers-trace.js';
import { classNameOf } from './class-name.js';
import { findCover, withCoveredCall } from './covered-call.js';
import {
  GATED_METHOD_METADATA,
  type GateLoan,
  type GatedMethod,
  gatedMethodAmong,
  gatedMethodOf,
} from './gated-method.js';
import { describeCall, type MethodSite, planOfCall } from './handler-span.js';
import { createPlanner } from './method-planner.js';
import { isOfOtherApplication } from './receivers.js';

/**
 * Puts a method behind the gate of its group, and keeps the metadata of its decorators. An earlier gate is replaced. If a
 * foreign wrapper, which is kept, stands above the earlier gate, both count as one call.
 *
 * @param lent the earlier gate, if an application has lent it
 */
export function gateMethod(current: AnyFunction, site: MethodSite, lent?: GatedMethod): AnyFunction {
  const keys = Reflect.getOwnMetadataKeys(current);
  const gated = new MethodGate(current, site, keys, gatedMethodAmong(keys, current) ?? lent, undefined);
  Reflect.defineMetadata(GATED_METHOD_METADATA, gated, gated.wrapper);
  return gated.wrapper;
}

/** A method behind its gate. It makes what a call needs at the first call that is on, because most methods never have one. */
export class MethodGate<Loan extends GateLoan | undefined = GateLoan | undefined>
  implements GatedMethod, BehindGate
{
  readonly wrapper: AnyFunction;
  readonly original: AnyFunction;
  superseded = false;
  private readonly gate: SpanGate;
  private readonly hasGateBehind: boolean;
  private made: AnyFunction | undefined;

  /**
   * @param current what stands there now: the method, an earlier gate's wrapper, or a foreign wrapper
   * @param keys those of its own metadata. The caller has them, and to list them again takes 4 us at a start
   * @param former the earlier gate
   * @param loan undefined for a decorator's gate
   */
  constructor(
    current: AnyFunction,
    readonly site: MethodSite,
    keys: readonly unknown[],
    former: GatedMethod | undefined,
    readonly loan: Loan,
  ) {
    // A foreign wrapper stands above the earlier gate, and now a decorator above that: the upper one decides.
    if (former !== undefined && former.wrapper !== current && !site.onClass) former.superseded = true;
    this.original = former?.wrapper === current ? former.original : current;
    this.hasGateBehind = former !== undefined && this.original === current;
    this.gate = spanGate(site.group);
    // A decorator's wrapper is the method from the start. Others may have a method that is lent a gate.
    const mirror = loan === undefined ? mirrorProperties : shareProperties;
    this.wrapper = gateFunction(this.gate, this.original, this, mirror);
    copyMetadata(current, this.wrapper, keys);
  }

  get on(): AnyFunction {
    return (this.made ??= MethodGate.makeOn(this));
  }

  /** It is static, because the function has the receiver of a call as its `this`. */
  private static makeOn(gated: MethodGate): AnyFunction {
    const { original, site, gate, wrapper, loan, hasGateBehind } = gated;
    const planFor = createPlanner(site, wrapper);
    return function (...args) {
      if (gated.superseded || (loan !== undefined && isOfOtherApplication(this, loan.borrowers))) {
        return Reflect.apply(original, this, args);
      }
      if (processState.missedCalls !== undefined && !isMissed(site)) {
        return Reflect.apply(original, this, args);
      }
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
  }
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

/**
 * The method without its gate, with the metadata that it got since.
 *
 * @param lent the gate, if an application has lent it
 */
export function ungateMethod(current: AnyFunction, lent?: GatedMethod): AnyFunction {
  const gated = gatedMethodOf(current) ?? lent;
  if (gated?.wrapper !== current) {
    if (gated !== undefined) gated.superseded = true;
    // A foreign wrapper may have copied the mark, but this method is no site any more.
    Reflect.deleteMetadata(GATED_METHOD_METADATA, current);
    return current;
  }
  const original = originalOf(gated);
  Reflect.deleteMetadata(GATED_METHOD_METADATA, original);
  return original;
}

/** The method behind a gate, with the metadata that its wrapper got since. */
export function originalOf({ wrapper, original }: GatedMethod): AnyFunction {
  copyMetadata(wrapper, original);
  return original;
}
