/** `nest-lens/testing`: for tests of applications and libraries that use NestLens. */
export { resetProcessState as resetNestLens } from './core/state/process-state.js';
export type { SpanProcessorLike } from './core/telemetry/setup-options.js';
export { captureSpans } from './testing/capture-spans.js';
export type { CapturedSpan, CapturedSpans } from './testing/capture-spans.js';
