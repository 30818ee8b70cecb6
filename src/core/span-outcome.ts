import { types } from 'node:util';
import { context, type Context, type Span, SpanStatusCode, trace } from '@opentelemetry/api';
import { type AsyncGeneratorLike, followGenerator, isAsyncGenerator } from './generator-outcome.js';
import {
  followObservable,
  isFollowedObservable,
  isObservable,
  type ObservableLike,
} from './observable-outcome.js';
import { countSpan } from './lens-metrics.js';
import { linkOpenSpan, nextSequence, takeOpenSpans, unlinkOpenSpan } from './open-spans.js';
import { type OpenSpanLink, processState } from './process-state.js';
import { recordThrown } from './span-exception.js';
import { reportSdkFailure, type SpanPlan, startSpan } from './span-plan.js';

const CANCELLED_ATTRIBUTE = 'nestlens.cancelled';
/** The attribute, and the event, of a span that a shutdown has ended. */
const TRUNCATED = 'nestlens.truncated';

/** A span under way. Of `end`, `fail` and `cancel` the first call has an effect; this is the only place that ends spans. */
export class OpenSpan implements OpenSpanLink {
  readonly span: Span;
  /** The context of the work: this span is the active one. */
  readonly inside: Context;
  readonly sequence = nextSequence();
  older: OpenSpanLink = this;
  newer: OpenSpanLink = this;
  private open = true;

  constructor(
    private readonly plan: SpanPlan,
    outside: Context,
  ) {
    this.span = startSpan(plan, outside);
    this.inside = trace.setSpan(outside, this.span);
    if (processState.spanCounts !== undefined) countSpan(processState.spanCounts, plan.attributes);
  }

  /**
   * Says that the work goes on after the call that began it: then a shutdown may come first, and has to end the span.
   *
   * Measured: keeping track of a span costs 30 ns, so spans that end within their call are left out.
   */
  lasting(): this {
    if (this.open && this.older === this) linkOpenSpan(this);
    return this;
  }

  end(): void {
    this.close();
  }

  fail(thrown: unknown): void {
    this.close((span) => {
      const message = recordThrown(span, thrown);
      if (this.plan.isError === undefined || this.plan.isError(thrown)) {
        span.setStatus({ code: SpanStatusCode.ERROR, message });
      }
    });
  }

  /** For work that was given up: unsubscribed, returned early, nobody there any more. Not an error. */
  cancel(): void {
    this.close((span) => span.setAttribute(CANCELLED_ATTRIBUTE, true));
  }

  private close(finish?: (span: Span) => void): void {
    if (!this.open) return;
    this.open = false;
    unlinkOpenSpan(this);
    // The application may have ended the span itself; touching it again would only make the SDK complain.
    if (!this.span.isRecording()) return;
    try {
      finish?.(this.span);
    } catch (error) {
      reportSdkFailure(this.plan.name, error);
    }
    try {
      this.span.end();
    } catch (error) {
      reportSdkFailure(this.plan.name, error);
    }
  }
}

/** What the application may still do to a span that a shutdown has ended. It is no mistake of its own. */
const DEAF: PropertyDescriptorMap = { end: { value: () => undefined } };
for (const method of [
  'setAttribute',
  'setAttributes',
  'addEvent',
  'addLink',
  'addLinks',
  'setStatus',
  'updateName',
  'recordException',
]) {
  DEAF[method] = {
    value(this: Span) {
      return this;
    },
  };
}

/**
 * Ends every span that is still under way, newest first, so that children end before their parents. They say so in an
 * attribute and an event, and are no errors. The work behind them goes on, and may go on writing to its span.
 */
export function truncateOpenSpans(): void {
  for (const span of takeOpenSpans()) {
    try {
      if (!span.isRecording()) continue;
      span.setAttribute(TRUNCATED, true);
      span.addEvent(TRUNCATED, { reason: 'telemetry was shut down before the work was done' });
      span.end();
      Object.defineProperties(span, DEAF);
    } catch (error) {
      reportSdkFailure((span as { name?: string }).name ?? 'still open', error);
    }
  }
}

/** Takes a step of a shutdown, with the spans that are under way ended before it. */
export function endOpenSpansThen(step: () => Promise<void>): Promise<void> {
  truncateOpenSpans();
  return step();
}

/**
 * Runs work inside a span that covers all of it: until it returns or throws, its promise settles, its observable
 * completes, errors or is unsubscribed, its async generator is done. The result goes to the caller, any thrown value
 * unchanged.
 *
 * @param outside the active context, from who knows it already: each look-up costs up to 25 ns
 */
export function runInSpan<T>(plan: SpanPlan, work: (span: Span) => T, outside = context.active()): T {
  const open = new OpenSpan(plan, outside);
  let result: T;
  try {
    result = context.with(open.inside, work, undefined, open.span);
  } catch (thrown) {
    open.fail(thrown);
    throw thrown;
  }
  return followResult(plan, open, result) as T;
}

/** Lets the span last as long as the work behind a result, and returns what the caller is to get. */
function followResult(plan: SpanPlan, open: OpenSpan, result: unknown): unknown {
  switch (workBehind(result)) {
    case 'promise':
      return followPromise(plan, open.lasting(), result as Promise<unknown>);
    case 'observable':
      return followObservable(result as ObservableLike, open.lasting(), (outside) =>
        plan.isOn?.() === false ? undefined : new OpenSpan(plan, outside).lasting(),
      );
    case 'generator':
      return followGenerator(result as AsyncGeneratorLike, open.lasting());
    default:
      open.end();
      return result;
  }
}

/**
 * What kind of work goes on behind a result. Only real promises count, by their internal slot: a lazy thenable (a query
 * builder) would start to work if its `then` were called. Proxies are not asked anything, except our own.
 */
export function workBehind(result: unknown): 'promise' | 'observable' | 'generator' | 'none' {
  if (typeof result !== 'object' || result === null) return 'none';
  if (types.isPromise(result)) return 'promise';
  try {
    if (types.isProxy(result)) return isFollowedObservable(result) ? 'observable' : 'none';
    if (isObservable(result)) return 'observable';
    if (isAsyncGenerator(result)) return 'generator';
  } catch {
    // A getter that throws: whatever it is, it isn't ours to look into.
  }
  return 'none';
}

function followPromise(plan: SpanPlan, open: OpenSpan, promise: Promise<unknown>): Promise<unknown> {
  let followed: Promise<unknown>;
  try {
    // One `then` with both callbacks: each further promise in the chain would cost about 0.2 us. A subclass derives a
    // promise of its own kind.
    followed = promise.then(
      (value) => followResult(plan, open, value),
      (reason: unknown) => {
        open.fail(reason);
        throw reason;
      },
    );
  } catch {
    open.end(); // a subclass that can't derive one; the caller gets the promise as it is
    return promise;
  }
  // What somebody hung on the promise, such as a cancel(), goes along.
  for (const key of Object.keys(promise)) {
    Reflect.defineProperty(followed, key, Object.getOwnPropertyDescriptor(promise, key)!);
  }
  return followed;
}
