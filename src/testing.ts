/** `nest-lens/testing`: for tests of applications and libraries that use NestLens. */
export { resetProcessState as resetNestLens } from './core/state/process-state.js';
export type { SpanGroupDefinition } from './core/groups/span-group-definition.js';
export type { SpanProcessorLike } from './core/telemetry/setup-options.js';
export { captureSpans } from './testing/capture-spans.js';
export type { CapturedSpans } from './testing/capture-spans.js';
export type { CapturedSpan } from './testing/captured-span.js';
export { createLensTestbed } from './testing/create-lens-testbed.js';
export type { LensTestbed, LensTestbedOptions } from './testing/lens-testbed.js';
