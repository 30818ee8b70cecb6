import { emitWarnings } from '../diagnostics/warnings.js';
import { processState } from '../state/process-state.js';
import { activeLayer } from './active-layer.js';
import { beginChange } from './span-group-changes.js';
import { createLayer, enableExactly, resolveLayer } from './span-group-state.js';

/**
 * Puts the spec of a source in force: above the configured spec and below an override. While the groups are pinned, it is
 * only kept.
 *
 * @param source its name
 * @param spec a spec that `specProblem` accepts; undefined if the source has none, so that the configured spec counts
 */
export function applySourcedSpec(source: string, spec: string | undefined): void {
  const { sourced, pinned } = processState;
  if (sourced?.spec.raw === spec && (spec === undefined || sourced?.source === source)) return;
  const changed = beginChange(`(${source})`);
  processState.sourced = spec === undefined ? undefined : { ...createLayer(spec), source };
  if (!pinned && activeLayer() === undefined) enableExactly(new Set());
  const warnings = resolveLayer();
  // The spec that a source has at the set-up is no change: it is part of the configuration.
  if (processState.setUp) changed();
  emitWarnings(warnings);
}
