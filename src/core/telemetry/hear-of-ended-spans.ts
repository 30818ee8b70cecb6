import type { KeptSpan } from '../state/recent-traces.js';
import { registeredTracerProvider } from './otel-globals.js';
import { processorsOf } from './private-fields.js';
import type { SpanProcessorLike } from './setup-options.js';

/**
 * Has a function called with each span that ends, by a processor behind all others: what those have taken out of a span isn't seen.
 *
 * @param onEnd what it throws is swallowed
 * @returns takes it back; undefined where no processor can be added to the registered provider
 */
export function hearOfEndedSpans(onEnd: (span: KeptSpan) => void): (() => void) | undefined {
  const provider = registeredTracerProvider();
  const processors = provider && processorsOf(provider);
  if (processors === undefined) return undefined;
  const processor: SpanProcessorLike = {
    onStart: () => undefined,
    onEnd(span: KeptSpan) {
      try {
        onEnd(span);
      } catch {
        // A span of another shape: nobody is hurt.
      }
    },
    forceFlush: () => Promise.resolve(),
    shutdown: () => Promise.resolve(),
  };
  processors.push(processor);
  return () => {
    const at = processors.indexOf(processor);
    if (at >= 0) processors.splice(at, 1);
  };
}
