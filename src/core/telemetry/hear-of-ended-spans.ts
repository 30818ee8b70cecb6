import type { KeptSpan } from '../state/recent-traces-state.js';
import { registeredTracerProvider } from './otel-globals.js';
import { processorsOf } from '../private-fields/private-fields.js';
import type { SpanProcessorLike } from './setup-options.js';

/**
 * Calls a function with each span that ends. Its processor is behind all others, so it doesn't see what those have removed
 * from a span.
 *
 * @param onEnd its errors are ignored
 * @returns a function that stops the calls; undefined if no processor can be added to the registered provider
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
        // A span of another shape is left out.
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
