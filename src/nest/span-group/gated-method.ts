import 'reflect-metadata';
import { context, type Span } from '@opentelemetry/api';
import { type AnyFunction, gateFunction } from '../../core/spans/gated-function.js';
import { copyMetadata } from '../../core/spans/mirror-function.js';
import { processState } from '../../core/state/process-state.js';
import { spanGate } from '../../core/groups/span-gate.js';
import { runInSpan } from '../../core/spans/span-outcome.js';
import type { SpanPlan } from '../../core/spans/span-plan.js';
import { handlerTypes } from './handler-kind.js';
import { type HttpRoute, httpRoutesOf } from './http-routes.js';
import { setServerSpanRoute } from './server-span-route.js';
import {
  claimCoveredCall,
  type MethodSite,
  methodSpanPlan,
  planOfCall,
  withCoveredCall,
} from './handler-span.js';

/** Kept beside the wrapper of a gated method. Other decorators may copy it to a wrapper of theirs. */
export interface GatedMethod {
  readonly wrapper: AnyFunction;
  readonly original: AnyFunction;
  readonly site: MethodSite;
  /** Another `@SpanGroup` or `@NoSpanGroup` stands above, and somebody else's wrapper in between: that one decides. */
  superseded: boolean;
}

const GATED_METHOD_METADATA = 'nest-lens:gated-method';

/** The gate of a method, or behind it where another decorator has wrapped it; undefined: it isn't gated. */
export function gatedMethodOf(method: object): GatedMethod | undefined {
  return Reflect.getOwnMetadata(GATED_METHOD_METADATA, method) as GatedMethod | undefined;
}

/**
 * Puts a method behind the gate of its group. What decorators have put on the given function goes along. A gate that it has
 * already is replaced; behind somebody else's wrapper, which is kept, it counts as the same call.
 *
 * @param overridden the gated method of a base class that this one overrides: a call of it from within, by `super`, is the
 * same call, and gets no span of its own
 */
export function gateMethod(current: AnyFunction, site: MethodSite, overridden?: GatedMethod): AnyFunction {
  const former = gatedMethodOf(current);
  // Behind somebody else's wrapper, and now a decorator of the method's own above it: that one decides.
  if (former !== undefined && former.wrapper !== current && !site.onClass) former.superseded = true;
  const original = former?.wrapper === current ? former.original : current;
  const covered = overridden ?? (original === current ? former : undefined);
  const gate = spanGate(site.group);
  // Made at the first call that is on: most methods of an application never see one.
  let planFor: ((receiver: unknown) => PlannedMethod) | undefined;
  const wrapper = gateFunction(gate, original, function (...args) {
    if (gated.superseded) return original.apply(this, args);
    // Measured: the active context looked up once instead of three times is 15 % of a span without an SDK.
    const outside = context.active();
    const work = (span: Span, spanName: string): unknown => {
      if (covered === undefined) return original.apply(this, args);
      const call = { key: covered, receiver: this, span, spanName, claimed: false };
      return context.with(withCoveredCall(context.active(), call), () => original.apply(this, args));
    };
    const claimed = claimCoveredCall(outside, gated, this, site.options, args);
    if (claimed !== undefined) return work(claimed.span, claimed.spanName);
    planFor ??= createPlanner(site, wrapper);
    const { plan: planOfClass, routes } = planFor(this);
    if (routes.length > 0) setServerSpanRoute(outside, routes);
    const plan = planOfCall(planOfClass, site.options, args);
    return runInSpan(plan, (span) => work(span, plan.name), outside);
  });
  if (current !== original) copyMetadata(current, wrapper);
  const gated: GatedMethod = { wrapper, original, site, superseded: false };
  Reflect.defineMetadata(GATED_METHOD_METADATA, gated, wrapper);
  return wrapper;
}

/** The method without its gate, with the metadata that it has got since. */
export function ungateMethod(current: AnyFunction): AnyFunction {
  const gated = gatedMethodOf(current);
  if (gated?.wrapper !== current) {
    if (gated !== undefined) gated.superseded = true;
    // A wrapper of somebody else may have copied it: this method is no site any more.
    Reflect.deleteMetadata(GATED_METHOD_METADATA, current);
    return current;
  }
  copyMetadata(current, gated.original);
  Reflect.deleteMetadata(GATED_METHOD_METADATA, gated.original);
  return gated.original;
}

/** What is known of a method on one class. */
interface PlannedMethod {
  readonly plan: SpanPlan;
  readonly routes: readonly HttpRoute[];
}

/**
 * Plans the spans of a method, once for each class whose instances it is called on: spans carry the name of the actual
 * class. Nest's metadata is read here, at the first call that is on, since decorators above ours come later than it.
 */
function createPlanner(site: MethodSite, wrapper: AnyFunction): (receiver: unknown) => PlannedMethod {
  let plans = new WeakMap<object, PlannedMethod>();
  let epoch: number | undefined;
  let lastClass: object | undefined;
  let last: PlannedMethod | undefined;
  return (receiver) => {
    const Class = classOf(receiver) ?? site.Class;
    if (epoch !== processState.routesEpoch) {
      // An application with the controller was built or closed: its routes are others.
      epoch = processState.routesEpoch;
      plans = new WeakMap();
      last = undefined;
    }
    if (last !== undefined && Class === lastClass) return last;
    let planned = plans.get(Class);
    if (planned === undefined) {
      const types = handlerTypes(wrapper);
      const routes = types.includes('http') ? httpRoutesOf(Class, wrapper) : [];
      planned = { plan: methodSpanPlan(site, Class.name, types, routes), routes };
      plans.set(Class, planned);
    }
    lastClass = Class;
    last = planned;
    return planned;
  };
}

/** The actual class that a method is called on; undefined for a method that was taken off its object. */
function classOf(receiver: unknown): MethodSite['Class'] | undefined {
  if (typeof receiver === 'function') return receiver; // a static method
  if (typeof receiver !== 'object' || receiver === null) return undefined;
  try {
    const { constructor } = Object.getPrototypeOf(receiver) as { constructor?: unknown };
    return typeof constructor === 'function' && constructor !== Object ? constructor : undefined;
  } catch {
    return undefined;
  }
}
