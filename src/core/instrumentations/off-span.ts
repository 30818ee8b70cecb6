import { type Context, INVALID_SPAN_CONTEXT, type Span, type SpanContext, trace } from '@opentelemetry/api';
import { differOnlyInSpan } from './entries-of-contexts.js';

/**
 * The span that an instrumentation gets while its group is off. It records nothing. It has the span context of the nearest
 * span that is on, so children and outgoing requests attach there.
 *
 * Each off span is an object of its own. Measured: with a shared object, instrumentation-http loses its metrics, because it
 * keeps its open spans in a set.
 */
export class OffSpan implements Span {
  /** The last context with this span that was entered, and the context that replaced it. The next one is often the same. */
  entered: { readonly context: Context; readonly without: Context } | undefined;

  /**
   * @param nearest the nearest span around it that is on, or the caller's; undefined if there is none
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

/** Measured: finding the span of a context takes 20 ns. A process with every group on needn't pay that. */
let isAnyOff = false;

/** The off span of a context; undefined if it has no span, or one that is on. */
export function offSpanOf(context: Context | null | undefined): OffSpan | undefined {
  if (!isAnyOff || context == null) return undefined;
  try {
    const span = trace.getSpan(context);
    return span instanceof OffSpan ? span : undefined;
  } catch {
    // It is no context, but context managers enter any value.
    return undefined;
  }
}

/** A copy of a context in which the nearest span that is on replaces the off span. */
export function withoutOffSpan(context: Context, off: OffSpan): Context {
  if (off.entered?.context !== context) off.entered = { context, without: replaceSpan(context, off) };
  return off.entered.without;
}

/**
 * Mostly, an instrumentation has put its span into the context in which it started the span. That context is then the result.
 */
function replaceSpan(context: Context, off: OffSpan): Context {
  const { nearest, around } = off;
  if (around !== undefined && differOnlyInSpan(context, around, off, nearest)) return around;
  return nearest === undefined ? trace.deleteSpan(context) : trace.setSpan(context, nearest);
}

/** Makes an off span for an instrumentation that starts a span in this context. */
export function createOffSpan(parent: Context, isRoot: boolean): OffSpan {
  isAnyOff = true;
  if (isRoot) return new OffSpan(undefined, undefined);
  const outer = trace.getSpan(parent);
  return outer instanceof OffSpan ? new OffSpan(outer.nearest, undefined) : new OffSpan(outer, parent);
}
