import { processState } from '../state/process-state.js';
import { changeSpec, createLayer } from './span-group-state.js';

/**
 * Puts the spec of a source in force: above the configured spec and below an override. While the groups are pinned, it is
 * only kept.
 *
 * @param source its name
 * @param spec a spec that `specProblem` accepts; undefined if the source has none, so that the configured spec counts
 */
export function applySourcedSpec(source: string, spec: string | undefined): void {
  const { sourced } = processState;
  if (sourced?.spec.raw === spec && (spec === undefined || sourced?.source === source)) return;
  changeSpec(`(${source})`, () => {
    processState.sourced = spec === undefined ? undefined : { ...createLayer(spec), source };
  });
}
