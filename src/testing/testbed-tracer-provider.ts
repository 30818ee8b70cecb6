import {
  type Context,
  context,
  createContextKey,
  INVALID_SPAN_CONTEXT,
  type Span,
  type SpanOptions,
  trace,
  type Tracer,
  type TracerProvider,
} from '@opentelemetry/api';
import { currentTestbed, type Scope } from './testbed-scope.js';

/** The SDK's `suppressTracing` sets it: the API has no name for it, but a key is the same wherever it is made. */
const SUPPRESS_TRACING = createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING');

/**
 * Gives each span to the testbed that the running code belongs to. All testbeds have one tracer, because code that takes a
 * tracer when it is loaded keeps it. Without a testbed it passes calls on to the provider that is registered at that time.
 */
class TestbedTracer implements Tracer {
  constructor(private readonly scope: Scope) {}

  startSpan(name: string, options: SpanOptions = {}, parent: Context = context.active()): Span {
    const testbed = currentTestbed();
    if (testbed === undefined) {
      const { name: scope, version } = this.scope;
      return trace.getTracer(scope, version).startSpan(name, options, parent);
    }
    if (parent.getValue(SUPPRESS_TRACING) !== undefined) return trace.wrapSpanContext(INVALID_SPAN_CONTEXT);
    return testbed.startSpan(this.scope, name, options, parent);
  }

  startActiveSpan<R>(name: string, ...rest: readonly unknown[]): R {
    const fn = rest.at(-1) as (span: Span) => R;
    const [options, parent = context.active()] = rest.slice(0, -1) as [SpanOptions?, Context?];
    const span = this.startSpan(name, options, parent);
    return context.with(trace.setSpan(parent, span), () => fn(span));
  }
}

export const testbedTracerProvider: TracerProvider = {
  getTracer: (name, version) => new TestbedTracer(version === undefined ? { name } : { name, version }),
};
