import type { CallHandler, ExecutionContext } from '@nestjs/common';
import { context, type Context, trace } from '@opentelemetry/api';
import { map, Observable } from 'rxjs';
import { isGateOpenHere } from '../../core/groups/span-gate.js';
import { type AsyncGeneratorLike, followGenerator } from '../../core/spans/generator-outcome.js';
import { InFlightSpan } from '../../core/spans/in-flight-span.js';
import { type CoveredSubscription, coverSubscriptions } from '../../core/spans/observable-outcome.js';
import { workBehind } from '../../core/spans/span-outcome.js';
import { reportSdkFailure } from '../../core/spans/span-plan.js';
import { readCaller } from './callers-trace.js';
import { AnnouncedCall, isCallCovered, withCoveredCall } from './covered-call.js';
import type { InterceptedHandler } from './intercepted-handler.js';

/** By the execution context, which all interceptors of a call share. */
const announced = new WeakMap<ExecutionContext, AnnouncedCall>();

/** Whether the call has a span already, because the interceptor is bound twice, e.g. to the controller and the handler. */
export function isIntercepted(execution: ExecutionContext, handler: InterceptedHandler): boolean {
  return announced.get(execution)?.isOpen ?? isCallCovered(context.active(), handler.key);
}

/** Makes the span of a call, and covers with it everything that `next.handle()` runs. */
export function intercept(
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
