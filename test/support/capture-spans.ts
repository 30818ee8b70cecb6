import { context, trace, type Tracer, type TracerProvider } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type ReadableSpan,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-base';

/** What the real SDK recorded since `captureSpans()`. */
export interface CapturedSpans {
  /** Every exported span, in the order of their ends. */
  all(): ReadableSpan[];
  named(name: string): ReadableSpan[];
  /** The single exported span; with a name, the single one of that name. Throws unless there is exactly one. */
  single(name?: string): ReadableSpan;
  names(): string[];
  /** Spans started and not ended. */
  openCount(): number;
  startedCount(): number;
  /** How often anybody asked the provider for a tracer. */
  tracerLookups(): number;
  clear(): void;
  tracer: Tracer;
}

/** Registers a real tracer provider and context manager, for one test: `test/setup.ts` takes them away again. */
export function captureSpans(): CapturedSpans {
  const exporter = new InMemorySpanExporter();
  let started = 0;
  let ended = 0;
  let lookups = 0;
  const counter: SpanProcessor = {
    onStart: () => void started++,
    onEnd: () => void ended++,
    forceFlush: () => Promise.resolve(),
    shutdown: () => Promise.resolve(),
  };
  const provider = new BasicTracerProvider({ spanProcessors: [counter, new SimpleSpanProcessor(exporter)] });
  const counting: TracerProvider = {
    getTracer(...args) {
      lookups++;
      return provider.getTracer(...args);
    },
  };
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(counting);

  const all = (): ReadableSpan[] => exporter.getFinishedSpans();
  const named = (name: string): ReadableSpan[] => all().filter((span) => span.name === name);
  return {
    all,
    named,
    single(name) {
      const found = name === undefined ? all() : named(name);
      if (found.length !== 1) {
        throw new Error(
          `expected one span ${name ?? ''}, saw ${JSON.stringify(all().map((span) => span.name))}`,
        );
      }
      return found[0]!;
    },
    names: () => all().map((span) => span.name),
    openCount: () => started - ended,
    startedCount: () => started,
    tracerLookups: () => lookups,
    clear: () => exporter.reset(),
    tracer: provider.getTracer('test'),
  };
}

/** The id of the span that `span` hangs under, or undefined for a root. */
export function parentId(span: ReadableSpan): string | undefined {
  return span.parentSpanContext?.spanId;
}

export function spanId(span: ReadableSpan): string {
  return span.spanContext().spanId;
}

/** The exception events of a span. */
export function exceptions(span: ReadableSpan): ReadableSpan['events'] {
  return span.events.filter((event) => event.name === 'exception');
}
