/** `nest-lens/testing`: for tests of applications and libraries that use NestLens. */
export { resetProcessState as resetNestLens } from './core/process-state.js';
export { captureSpans } from './testing/capture-spans.js';
export type { CapturedSpans } from './testing/capture-spans.js';
