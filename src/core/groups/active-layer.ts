import { processState } from '../state/process-state.js';
import type { SpecLayer } from '../state/spec-layers.js';

/** The spec below an override: that of the source if it gave one, else the configured one. */
export function baseLayer(): SpecLayer | undefined {
  return processState.sourced ?? processState.configured;
}

/**
 * The spec in force: that of the override, else of the source, else the configured one. Undefined while the groups are
 * pinned.
 */
export function activeLayer(): SpecLayer | undefined {
  return processState.pinned ? undefined : (processState.override ?? baseLayer());
}
