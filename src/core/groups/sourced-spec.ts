import { emitWarnings } from '../diagnostics/warnings.js';
import { processState } from '../state/process-state.js';
import { activeLayer } from './active-layer.js';
import { beginChange } from './span-group-changes.js';
import { createLayer, enableExactly, resolveLayer } from './span-group-state.js';

/**
 * Puts what a source has said in force: over the configured spec, and below an override. While the groups are pinned it is kept
 * for later.
 *
 * @param source its name
 * @param spec can be a spec, see `specProblem`; undefined: the source has none, so the configured one counts
 */
export function applySourcedSpec(source: string, spec: string | undefined): void {
  const { sourced, pinned } = processState;
  if (sourced?.spec.raw === spec && (spec === undefined || sourced?.source === source)) return;
  const changed = beginChange(`(${source})`);
  processState.sourced = spec === undefined ? undefined : { ...createLayer(spec), source };
  if (!pinned && activeLayer() === undefined) enableExactly(new Set());
  const warnings = resolveLayer();
  // What the source has when telemetry is set up is the configuration.
  if (processState.setUp) changed();
  emitWarnings(warnings);
}
