import { spanGate } from '../../core/groups/span-gate.js';
import type { SpanPlan } from '../../core/spans/span-plan.js';
import { processState } from '../../core/state/process-state.js';
import type { SpanGate } from '../../core/state/state-shape.js';
import { classNameOf } from './class-name.js';
import { siteName } from './gate-method.js';
import { methodSpanPlan } from './handler-span.js';
import { httpRoutesOf } from './http-routes.js';
import { gateOfHandler } from './known-gates.js';
import { ownSpanGroup, spanGroupOf } from './span-group-metadata.js';

/** The facts about a handler on a class; computed once. */
export interface InterceptedHandler {
  /** The gate of the method, or the method itself: gate and interceptors recognise a call by it. */
  readonly key: object;
  readonly gate: SpanGate;
  /** Called if the gate may be open for another reason than the spec. */
  isAdmitted(): boolean;
  /** The plan of its spans, by type of execution context. */
  plan(type: string | undefined): SpanPlan;
}

/** Describes a handler on a class; null if it is in no group. */
export function describeHandler(method: object, Class: object): InterceptedHandler | null {
  const gated = gateOfHandler(method, Class);
  // If `autoGroups` or the module's group has gated the handler, only the gate knows the group.
  const lent = gated?.loan === undefined || gated.superseded ? undefined : gated.site;
  const metadata = spanGroupOf(method, Class) ?? lent;
  if (metadata === undefined || metadata.group === null) return null;
  const site = {
    group: metadata.group,
    options: metadata.options,
    onClass: ownSpanGroup(method) === undefined,
    Class,
    key: gated?.site.key ?? (method as { name: string }).name,
  };
  const plans = new Map<string | undefined, SpanPlan>();
  let epoch: number | undefined;
  const gate = spanGate(site.group);
  return {
    key: gated ?? method,
    gate,
    isAdmitted: () => {
      // If the method has a gate, its calls without a span are counted there.
      if (gated !== undefined && processState.isAdmitted?.(gate.name, undefined) === false) return false;
      return processState.isAdmitted?.(gate.name, siteName(site)) ?? true;
    },
    plan: (type) => {
      if (epoch !== processState.routesEpoch) {
        // An application with the controller was built or closed, so the routes have changed.
        epoch = processState.routesEpoch;
        plans.clear();
      }
      let plan = plans.get(type);
      if (plan === undefined) {
        plan = methodSpanPlan(
          site,
          classNameOf(Class),
          type === undefined ? [] : [type],
          httpRoutesOf(Class, method),
        );
        plans.set(type, plan);
      }
      return plan;
    },
  };
}
