import { type Context, INVALID_SPAN_CONTEXT, type Span, type SpanContext, trace } from '@opentelemetry/api';
import { differOnlyInSpan } from './entries-of-contexts.js';

/**
 * What an instrumentation gets while its group is off. It records nothing, and stands for the nearest span that is on: it
 * has that one's context, so children and outgoing requests attach there.
 *
 * Each is an object of its own. Measured: with a shared one instrumentation-http, which keeps its open spans in a set, loses
 * its metrics.
 */
export class OffSpan implements Span {
  /** The context with this span that was entered last, and what was entered instead: the next one is often the same. */
  entered: { readonly context: Context; readonly without: Context } | undefined;

  /**
   * @param nearest the nearest span around it that is on, or that came from the caller; undefined where there is none
   * @param around the context in which it was asked for, if that has `nearest` as its span
   */
  constructor(
    readonly nearest: Span | undefined,
    readonly around: Context | undefined,
  ) {}

  spanContext(): SpanContext {
    return this.nearest?.spanContext() ?? INVALID_SPAN_CONTEXT;
  }

  isRecording(): boolean {
    return false;
  }

  setAttribute(): this {
    return this;
  }

  setAttributes(): this {
    return this;
  }

  addEvent(): this {
    return this;
  }

  addLink(): this {
    return this;
  }

  addLinks(): this {
    return this;
  }

  setStatus(): this {
    return this;
  }

  updateName(): this {
    return this;
  }

  recordException(): void {}

  end(): void {}
}

/** Measured: looking for the span of a context takes 20 ns, which a process with everything on needn't pay. */
let isAnyOff = false;

/** The span of a context that is off; undefined where the context has none, or one that is on. */
export function offSpanOf(context: Context | null | undefined): OffSpan | undefined {
  if (!isAnyOff || context == null) return undefined;
  const span = trace.getSpan(context);
  return span instanceof OffSpan ? span : undefined;
}

/** A context with the nearest span that is on in the place of its span, which is off. */
export function withoutOffSpan(context: Context, off: OffSpan): Context {
  if (off.entered?.context !== context) off.entered = { context, without: replaceSpan(context, off) };
  return off.entered.without;
}

/** Mostly an instrumentation has only put its span into the context in which it asked for it: then that is what is left. */
function replaceSpan(context: Context, off: OffSpan): Context {
  const { nearest, around } = off;
  if (around !== undefined && differOnlyInSpan(context, around, off, nearest)) return around;
  return nearest === undefined ? trace.deleteSpan(context) : trace.setSpan(context, nearest);
}

/** A span that is off, in a context in which the instrumentation has asked for one. */
export function createOffSpan(parent: Context, isRoot: boolean): OffSpan {
  isAnyOff = true;
  if (isRoot) return new OffSpan(undefined, undefined);
  const outer = trace.getSpan(parent);
  return outer instanceof OffSpan ? new OffSpan(outer.nearest, undefined) : new OffSpan(outer, parent);
}
