import { emitWarnings, type Warning } from '../diagnostics/warnings.js';
import { processState } from '../state/process-state.js';
import type { SpecLayer } from '../state/spec-layers.js';
import { activeLayer, baseLayer } from './active-layer.js';
import { openGate } from './held-gates.js';
import { ignoreOffCalls } from './off-calls.js';
import { indexRegistry } from './registry-index.js';
import { beginChange, BY_CODE } from './span-group-changes.js';
import { readTexts } from './span-group-definition.js';
import { parseSpanGroupSpec, resolveSpec, specProblem } from './span-group-spec.js';
import { reportIfChanged } from './spec-report.js';

/** The only place that switches a group: it changes the enabled set and the gate together. */
function switchGroup(group: string, enabled: boolean): void {
  if (enabled) processState.enabled.add(group);
  else processState.enabled.delete(group);
  openGate(group);
}

/** Turns exactly these groups on, and all others off. */
function enableExactly(groups: ReadonlySet<string>): void {
  for (const group of [...processState.enabled]) {
    if (!groups.has(group)) switchGroup(group, false);
  }
  for (const group of groups) {
    if (!processState.enabled.has(group)) switchGroup(group, true);
  }
}

/** Makes the layer of a spec. No warning about it was given yet. */
export function createLayer(raw: string): SpecLayer {
  return { spec: parseSpanGroupSpec(raw), lastReport: undefined };
}

/**
 * Resolves a spec against the registry and returns the warnings about it. If it is the spec in force, it also switches every
 * group.
 */
export function resolveLayer(layer = activeLayer(), index = indexRegistry()): Warning[] {
  if (layer === undefined) {
    if (!processState.pinned) enableExactly(new Set());
    return [];
  }
  const resolution = resolveSpec(layer.spec, index);
  if (layer === activeLayer()) enableExactly(resolution.enabled);
  return reportIfChanged(layer, resolution, index);
}

/**
 * Changes the spec in force: makes the change, switches every group, records the change, and warns at last.
 *
 * @param by see {@link beginChange}
 * @param layerToReport the layer that warnings are about, once the change is made
 */
export function changeSpec(by: string | null, change: () => void, layerToReport = activeLayer): void {
  const changed = beginChange(by);
  change();
  const warnings = resolveLayer(layerToReport());
  changed();
  emitWarnings(warnings);
}

/**
 * Puts a spec in force: keeps it, resolves it against the registry, and switches every group. Later registrations re-resolve
 * it. It replaces an earlier spec or pin. An override, and the spec of a `specSource`, stay above it. It warns about names
 * that are not registered, and never throws. What can't be a spec (not a string, over 100,000 characters, over 100 wildcards) is a
 * warning, `SPEC_INVALID`, and changes nothing. `setupTelemetry` calls it with the configured spec, so applications rarely
 * need to.
 *
 * @param spec comma-separated presets, groups, wildcards and exclusions, e.g. `default,db_*,-cache`; '' selects nothing
 *
 * @example
 * setSpanGroupSpec('per_request,payment');
 */
export function setSpanGroupSpec(spec: string): void {
  const problem = specProblem(spec);
  if (problem !== undefined) return emitWarnings([{ code: 'SPEC_INVALID', details: { problem } }]);
  const put = (): void => {
    processState.pinned = false;
    processState.configured = createLayer(spec);
  };
  changeSpec(BY_CODE, put, baseLayer);
}

/**
 * Pins the enabled groups: exactly these are on, registered or not, until the next `setSpanGroupSpec`. It drops the
 * configured spec and an override, and later registrations change nothing. A disabled set-up pins every group off this way.
 *
 * @param groups names as the sites give them; they are neither trimmed nor lower-cased
 * @throws TypeError for anything but an iterable of strings; then nothing has changed
 *
 * @example
 * setEnabledSpanGroups([]); // everything off, for good
 */
export function setEnabledSpanGroups(groups: Iterable<string>): void {
  const pinned = new Set(readTexts(groups, 'setEnabledSpanGroups: groups'));
  changeSpec(BY_CODE, () => {
    dropOverride();
    processState.configured = undefined;
    processState.pinned = true;
    enableExactly(pinned);
  });
}

/** Removes an override. The caller has to switch the groups. */
export function dropOverride(): void {
  clearTimeout(processState.override?.timer);
  processState.override = undefined;
}

/**
 * The names of the groups that are on, as a new set. It is meant for people and tests; a site asks its gate.
 *
 * @example
 * enabledSpanGroups(); // Set { 'orders', 'payment' }
 */
export function enabledSpanGroups(): ReadonlySet<string> {
  return new Set(processState.enabled);
}

/**
 * The entries of the spec in force that match nothing registered, as a new set. It is empty while the groups are pinned.
 *
 * @example
 * pendingSpanGroups(); // Set { 'per_requset' }
 */
export function pendingSpanGroups(): ReadonlySet<string> {
  const layer = activeLayer();
  return layer === undefined ? new Set() : resolveSpec(layer.spec, indexRegistry()).pending;
}

/** Forgets specs, pin, override and changes, and turns every group off. A shutdown does this, and no warning follows. */
export function forgetSpanGroupState(): void {
  dropOverride();
  processState.configured = undefined;
  processState.sourced = undefined;
  processState.pinned = false;
  processState.setUp = false;
  ignoreOffCalls();
  processState.preview?.end();
  processState.changes.length = 0;
  enableExactly(new Set());
}
