import 'reflect-metadata';
import { context, type Context, type Span } from '@opentelemetry/api';
import { type AnyFunction, gateFunction } from '../../core/spans/gated-function.js';
import { copyMetadata } from '../../core/spans/mirror-function.js';
import { processState } from '../../core/state/process-state.js';
import { spanGate } from '../../core/groups/span-gate.js';
import { runInSpan } from '../../core/spans/span-outcome.js';
import type { SpanPlan } from '../../core/spans/span-plan.js';
import { joinCaller } from './callers-trace.js';
import { classNameOf } from './class-name.js';
import { findCover, withCoveredCall } from './covered-call.js';
import type { GateLoan } from './gate-loan.js';
import { handlerTypes } from './handler-kind.js';
import { describeCall, type MethodSite, methodSpanPlan, planOfCall } from './handler-span.js';
import { httpRoutesOf } from './http-routes.js';
import { isOfOtherApplication } from './receivers.js';

/** Kept beside the wrapper of a gated method. Other decorators may copy it to their own wrapper. */
export interface GatedMethod {
  readonly wrapper: AnyFunction;
  readonly original: AnyFunction;
  readonly site: MethodSite;
  /**
   * If true, calls go straight through: another `@SpanGroup` or `@NoSpanGroup` stands above, with a foreign wrapper in
   * between; or the loan is over, but the wrapper is still in use.
   */
  superseded: boolean;
  /** The applications that asked for the gate, if no decorator did; only while they run. */
  readonly loan: GateLoan | undefined;
}

const GATED_METHOD_METADATA = 'nest-lens:gated-method';

/** The gate of a method, even if another decorator has wrapped it; undefined if it has none. */
export function gatedMethodOf(method: object): GatedMethod | undefined {
  return Reflect.getOwnMetadata(GATED_METHOD_METADATA, method) as GatedMethod | undefined;
}

/** The same for a method the keys of whose metadata are known. */
export function gatedMethodAmong(keys: readonly unknown[], method: object): GatedMethod | undefined {
  return keys.includes(GATED_METHOD_METADATA) ? gatedMethodOf(method) : undefined;
}

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
      return original.apply(this, args);
    }
    if (processState.missedCalls !== undefined && !isMissed(site)) return original.apply(this, args);
    // Measured: looking up the active context once instead of three times is 15 % of a span without an SDK.
    const outside = context.active();
    const cover = findCover(outside, gated, this, site.key, args);
    if (cover !== undefined) {
      const { span, spanName, runIn } = cover;
      describeCall(span, spanName, site, args);
      return runIn === undefined
        ? original.apply(this, args)
        : runWithin(runIn, span, spanName, gated, this, args);
    }
    if (processState.isAdmitted?.(gate.name, siteName(site), outside) === false) {
      return original.apply(this, args);
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
        : original.apply(this, args);
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
  return context.with(inside, () => gated.original.apply(receiver, args as unknown[]));
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

/** The facts about a method on one class. */
interface PlannedMethod {
  readonly plan: SpanPlan;
  /** Whether the class has another gated method of this name, below or above: one may call the other by `super`. */
  readonly hasOtherGate: boolean;
}

/**
 * Plans the spans of a method, once for each class of receivers, because spans carry the name of the actual class. It reads
 * Nest's metadata at the first call that is on, because decorators above ours run later.
 */
function createPlanner(site: MethodSite, wrapper: AnyFunction): (receiver: unknown) => PlannedMethod {
  let plans = new WeakMap<object, PlannedMethod>();
  let epoch: number | undefined;
  let lastClass: object | undefined;
  let last: PlannedMethod | undefined;
  return (receiver) => {
    const Class = classOf(receiver) ?? site.Class;
    if (epoch !== processState.routesEpoch) {
      // An application with the controller was built or closed, so the routes have changed.
      epoch = processState.routesEpoch;
      plans = new WeakMap();
      last = undefined;
    }
    if (last !== undefined && Class === lastClass) return last;
    let planned = plans.get(Class);
    if (planned === undefined) {
      planned = planMethod(site, wrapper, Class);
      plans.set(Class, planned);
    }
    lastClass = Class;
    last = planned;
    return planned;
  };
}

function planMethod(site: MethodSite, wrapper: AnyFunction, Class: object): PlannedMethod {
  const types = handlerTypes(wrapper);
  try {
    const routes = types.includes('http') ? httpRoutesOf(Class, wrapper) : [];
    return {
      plan: methodSpanPlan(site, classNameOf(Class), types, routes),
      hasOtherGate: hasOtherGate(Class, wrapper, site.key),
    };
  } catch {
    // A proxy that refuses to be read.
    return { plan: methodSpanPlan(site, classNameOf(site.Class), types, []), hasOtherGate: true };
  }
}

function hasOtherGate(Class: object, wrapper: AnyFunction, key: string | symbol): boolean {
  // Static methods inherit along the chain of classes, others along that of prototypes.
  for (const start of [Class, (Class as { prototype?: object | null }).prototype]) {
    for (let at = start ?? null; at !== null; at = Object.getPrototypeOf(at) as object | null) {
      const method: unknown = Object.getOwnPropertyDescriptor(at, key)?.value;
      const gated = typeof method === 'function' ? gatedMethodOf(method) : undefined;
      if (gated !== undefined && gated.wrapper !== wrapper) return true;
    }
  }
  return false;
}

/** The actual class of the receiver; undefined if the method was taken off its object. */
function classOf(receiver: unknown): object | undefined {
  if (typeof receiver === 'function') return receiver; // a static method
  if (typeof receiver !== 'object' || receiver === null) return undefined;
  try {
    const { constructor } = Object.getPrototypeOf(receiver) as { constructor?: unknown };
    return typeof constructor === 'function' && constructor !== Object ? constructor : undefined;
  } catch {
    return undefined;
  }
}
