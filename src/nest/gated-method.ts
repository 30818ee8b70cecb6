import 'reflect-metadata';
import { context, type Span } from '@opentelemetry/api';
import { type AnyFunction, gateFunction } from '../core/gated-function.js';
import { copyMetadata } from '../core/mirror-function.js';
import { spanGate } from '../core/span-gate.js';
import { runInSpan } from '../core/span-outcome.js';
import type { SpanPlan } from '../core/span-plan.js';
import { handlerTransport } from './handler-kind.js';
import { type HttpRoute, httpRoutesOf } from './http-routes.js';
import { setServerSpanRoute } from './server-span-route.js';
import {
  claimCoveredCall,
  type MethodSite,
  methodSpanPlan,
  planOfCall,
  withCoveredCall,
} from './handler-span.js';

/** Kept beside the wrapper of a gated method. */
export interface GatedMethod {
  readonly original: AnyFunction;
  readonly site: MethodSite;
}

const GATED_METHOD_METADATA = 'nest-lens:gated-method';

/** What a method was before it was gated, and in which group it is; undefined: it isn't gated. */
export function gatedMethodOf(method: object): GatedMethod | undefined {
  return Reflect.getOwnMetadata(GATED_METHOD_METADATA, method) as GatedMethod | undefined;
}

/**
 * Puts a method behind the gate of its group. What decorators have put on the given function, which may itself be gated
 * already, goes along; it is never gated twice.
 *
 * @param overridden the gated method of a base class that this one overrides: a call of it from within, by `super`, is the
 * same call, and gets no span of its own
 */
export function gateMethod(current: AnyFunction, site: MethodSite, overridden?: AnyFunction): AnyFunction {
  const original = gatedMethodOf(current)?.original ?? current;
  const gate = spanGate(site.group);
  const planFor = createPlanner(site, () => wrapper);
  const wrapper = gateFunction(gate, original, function (...args) {
    // Measured: the active context looked up once instead of three times is 15 % of a span without an SDK.
    const outside = context.active();
    if (claimCoveredCall(outside, wrapper, site.options, args)) return original.apply(this, args);
    const { plan: planOfClass, routes } = planFor(this);
    if (routes.length > 0) setServerSpanRoute(outside, routes);
    const plan = planOfCall(planOfClass, site.options, args);
    const work = (span: Span): unknown => {
      if (overridden === undefined) return original.apply(this, args);
      const call = { method: overridden, span, spanName: plan.name, claimed: false };
      return context.with(withCoveredCall(context.active(), call), () => original.apply(this, args));
    };
    return runInSpan(plan, work, outside);
  });
  if (current !== original) copyMetadata(current, wrapper);
  const gated: GatedMethod = { original, site };
  Reflect.defineMetadata(GATED_METHOD_METADATA, gated, wrapper);
  return wrapper;
}

/** The method without its gate, with the metadata that it has got since. */
export function ungateMethod(current: AnyFunction): AnyFunction {
  const gated = gatedMethodOf(current);
  if (gated === undefined) return current;
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
function createPlanner(site: MethodSite, wrapper: () => AnyFunction): (receiver: unknown) => PlannedMethod {
  const plans = new WeakMap<object, PlannedMethod>();
  let lastClass: object | undefined;
  let last: PlannedMethod | undefined;
  return (receiver) => {
    const Class = classOf(receiver);
    if (last !== undefined && Class === lastClass) return last;
    let planned = plans.get(Class);
    if (planned === undefined) {
      const transport = handlerTransport(wrapper());
      const routes = transport === 'http' ? httpRoutesOf(Class, wrapper()) : [];
      planned = { plan: methodSpanPlan(site, Class.name || 'anonymous', transport, routes), routes };
      plans.set(Class, planned);
    }
    lastClass = Class;
    last = planned;
    return planned;
  };
}

const NO_CLASS = { name: '' };

function classOf(receiver: unknown): { readonly name: string } {
  if (typeof receiver === 'function') return receiver; // a static method
  if (typeof receiver !== 'object' || receiver === null) return NO_CLASS;
  try {
    const { constructor } = Object.getPrototypeOf(receiver) as { constructor?: unknown };
    return typeof constructor === 'function' ? constructor : NO_CLASS;
  } catch {
    return NO_CLASS;
  }
}
