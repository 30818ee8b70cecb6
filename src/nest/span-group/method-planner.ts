import type { AnyFunction } from '../../core/spans/gated-function.js';
import type { SpanPlan } from '../../core/spans/span-plan.js';
import { processState } from '../../core/state/process-state.js';
import { classNameOf } from './class-name.js';
import { handlerTypes } from './handler-kind.js';
import { type MethodSite, methodSpanPlan } from './handler-span.js';
import { httpRoutesOf } from './http-routes.js';
import { gateAt } from './known-gates.js';

/** The facts about a method on one class. */
export interface PlannedMethod {
  readonly plan: SpanPlan;
  /** Whether the class has another gated method of this name, below or above: one may call the other by `super`. */
  readonly hasOtherGate: boolean;
}

/**
 * Plans the spans of a method, once for each class of receivers, because spans carry the name of the actual class. It reads
 * Nest's metadata at the first call that is on, because decorators above ours run later.
 */
export function createPlanner(site: MethodSite, wrapper: AnyFunction): (receiver: unknown) => PlannedMethod {
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
      const gated = typeof method === 'function' ? gateAt(at, key, method) : undefined;
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
