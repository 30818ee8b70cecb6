import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import { context, type Context, trace } from '@opentelemetry/api';
import { map, Observable } from 'rxjs';
import { type AsyncGeneratorLike, followGenerator } from '../../core/spans/generator-outcome.js';
import { type CoveredSubscription, coverSubscriptions } from '../../core/spans/observable-outcome.js';
import { processState } from '../../core/state/process-state.js';
import type { SpanGate } from '../../core/state/state-shape.js';
import { isAdmitted } from '../../core/groups/admission.js';
import { isGateOpenHere, spanGate } from '../../core/groups/span-gate.js';
import { InFlightSpan } from '../../core/spans/in-flight-span.js';
import { workBehind } from '../../core/spans/span-outcome.js';
import { reportSdkFailure, type SpanPlan } from '../../core/spans/span-plan.js';
import { gatedMethodOf, siteName } from './gated-method.js';
import { httpRoutesOf } from './http-routes.js';
import { readCaller } from './callers-trace.js';
import { classNameOf } from './class-name.js';
import { AnnouncedCall, isCallCovered, withCoveredCall } from './covered-call.js';
import { methodSpanPlan } from './handler-span.js';
import { NoSpanGroup } from './span-group.decorator.js';
import { ownSpanGroup, spanGroupOf } from './span-group-metadata.js';

/** By the execution context, which all interceptors of a call share. */
const announced = new WeakMap<ExecutionContext, AnnouncedCall>();

/** The facts about a handler on a class; computed once. */
interface InterceptedHandler {
  /** The gate of the method, or the method itself: gate and interceptors recognise a call by it. */
  readonly key: object;
  readonly gate: SpanGate;
  /** Called if the gate may be open for another reason than the spec. */
  isAdmitted(): boolean;
  /** The plan of its spans, by type of execution context. */
  plan(type: string | undefined): SpanPlan;
}

/**
 * Widens a handler's span to everything that Nest runs inside an interceptor: pipes, inner interceptors, the response stream.
 * It reads the `@SpanGroup` of the handler or its class. For a handler in no group, or whose group is off, it returns
 * `next.handle()` itself. A decorated handler still has one span.
 *
 * Bind it where the wider span is wanted, to handlers or controllers: being an interceptor is what costs (on Nest 11 about
 * 25 us a request), the gate isn't. It needs no dependencies and works without `NestLensModule`.
 *
 * Without an active span, an HTTP handler's span continues the caller's `traceparent`.
 *
 * An inner interceptor that runs the handlers of several requests in the async context of one of them (a batch, a queue) hides
 * which call belongs to which request. Each request still has one span. The first call in a request's context counts as its own;
 * the spans of the others lack the attributes from arguments, the link of the `carrier`, and their children. Put
 * `AsyncResource.bind(job)` of `node:async_hooks` into the queue instead of the job, and all of it is where it belongs.
 *
 * @example
 * ```ts
 * @UseInterceptors(SpanGroupInterceptor)
 * @SpanGroup('orders')
 * @Controller('orders')
 * class OrdersController {}
 * ```
 */
@NoSpanGroup()
export class SpanGroupInterceptor implements NestInterceptor {
  private readonly handlers = new WeakMap<object, Map<object, InterceptedHandler | null>>();

  /** Nest calls it for each request. If the handler is in no group, or the group is off, it returns `next.handle()`. */
  intercept(execution: ExecutionContext, next: CallHandler): Observable<unknown> {
    const handler = this.find(execution.getHandler(), execution.getClass());
    if (
      handler === null ||
      !handler.gate.enabled ||
      (processState.isAdmissionAsked && !handler.isAdmitted())
    ) {
      return next.handle() as Observable<unknown>;
    }
    // The interceptor is bound twice, e.g. to the controller and the handler: the outer span covers the call.
    const isCovered = announced.get(execution)?.isOpen ?? isCallCovered(context.active(), handler.key);
    if (isCovered) return next.handle() as Observable<unknown>;
    return intercept(handler, execution, next);
  }

  private find(method: object, Class: object): InterceptedHandler | null {
    let ofClasses = this.handlers.get(method);
    if (ofClasses === undefined) {
      ofClasses = new Map<object, InterceptedHandler | null>();
      this.handlers.set(method, ofClasses);
    }
    let handler = ofClasses.get(Class);
    if (handler === undefined) ofClasses.set(Class, (handler = describeHandler(method, Class)));
    return handler;
  }
}

function describeHandler(method: object, Class: object): InterceptedHandler | null {
  const gated = gatedMethodOf(method);
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
      // If the method has a gate, calls without a span are counted there.
      const isOn = isAdmitted(gate.name, undefined);
      return isOn || gated === undefined ? isAdmitted(gate.name, siteName(site)) : false;
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

function intercept(
  handler: InterceptedHandler,
  execution: ExecutionContext,
  next: CallHandler,
): Observable<unknown> {
  const type = attempt(() => execution.getType<string>());
  const begin = (outside: Context): BegunCall => {
    const plan = handler.plan(type);
    const open = new InFlightSpan(plan, outside).track();
    const call = new AnnouncedCall(open.span, plan.name, handler.key, outside);
    announced.set(execution, call);
    const inside = withCoveredCall(open.inside, call);
    const fail = (thrown: unknown): void => {
      call.end();
      open.fail(thrown);
    };
    try {
      // Nest binds the handler's call to the context in which handle() is called. Inner interceptors may call it at
      // subscription, and other handlers of a call may do their work then, so the subscription has the same context.
      const handled: unknown = context.with(inside, () => next.handle());
      return { handled, open, call, inside, outside, fail };
    } catch (thrown) {
      fail(thrown);
      throw thrown;
    }
  };
  const outside = callersContext(handler.plan(type).name, type, execution);
  const begun = begin(outside);
  if (workBehind(begun.handled) !== 'observable') return handBack(begun) as Observable<unknown>;
  return coverSubscriptions(Observable, coverHandler(begun), () =>
    isGateOpenHere(handler.gate)
      ? coverHandler(begin(outside))
      : { source: next.handle() as Observable<unknown>, open: undefined, outside },
  ) as unknown as Observable<unknown>;
}

/** The span of a call, and the result of `handle()`. */
interface BegunCall {
  readonly handled: unknown;
  readonly open: InFlightSpan;
  readonly call: AnnouncedCall;
  readonly inside: Context;
  readonly outside: Context;
  readonly fail: (thrown: unknown) => void;
}

/**
 * Nest returns an observable. Other results, from a test's own `CallHandler`, are returned as they are; a promise is waited
 * for.
 */
function handBack({ handled, open, call, fail }: BegunCall): unknown {
  const end = (): void => {
    call.end();
    open.end();
  };
  if (workBehind(handled) === 'promise') (handled as Promise<unknown>).then(end, fail);
  else end();
  return handled;
}

/** A handler's observable ends with its value. If that is an async generator, the work goes on. */
function coverHandler({ handled, open, call, inside, outside, fail }: BegunCall): CoveredSubscription {
  let goesOn = false;
  const source = (handled as Observable<unknown>).pipe(
    map((value) => {
      if (workBehind(value) !== 'generator') return value;
      goesOn = true;
      return followGenerator(value as AsyncGeneratorLike, open);
    }),
  );
  const close = (how: 'end' | 'cancel') => (): void => {
    call.end();
    if (!goesOn) open[how]();
  };
  return {
    source,
    outside,
    open: { span: open.span, inside, end: close('end'), fail, cancel: close('cancel') },
  };
}

/** The active context. If nothing is traced so far, an HTTP request's headers name the trace. */
function callersContext(span: string, type: string | undefined, execution: ExecutionContext): Context {
  const active = context.active();
  if (type !== 'http' || trace.getSpan(active) !== undefined) return active;
  const headers = attempt(() => execution.getArgByIndex<{ headers?: unknown } | undefined>(0)?.headers);
  if (typeof headers !== 'object' || headers === null) return active;
  try {
    const caller = readCaller(headers);
    return caller === undefined ? active : trace.setSpanContext(active, caller);
  } catch (error) {
    reportSdkFailure(span, error); // The propagator has failed, not the request.
    return active;
  }
}

/** The answer of an execution context; undefined if a test's own context can't give it. */
function attempt<T>(ask: () => T): T | undefined {
  try {
    return ask();
  } catch {
    return undefined;
  }
}
