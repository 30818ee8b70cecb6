import { processState } from '../state/process-state.js';
import type { SpecLayer } from '../state/state-shape.js';

/** The spec below an override: the source's while it has one, else the configured one. */
export function baseLayer(): SpecLayer | undefined {
  return processState.sourced ?? processState.configured;
}

/** The spec that decides now: the override's, else the source's, else the configured one. None does while the groups are pinned. */
export function activeLayer(): SpecLayer | undefined {
  return processState.pinned ? undefined : (processState.override ?? baseLayer());
}
