import { emitWarnings, type Warning } from '../diagnostics/warnings.js';
import { processState } from '../state/process-state.js';
import type { SpecLayer } from '../state/state-shape.js';
import { activeLayer, baseLayer } from './active-layer.js';
import { openGate } from './held-gates.js';
import { ignoreOffCalls } from './off-calls.js';
import { indexRegistry } from './registry-index.js';
import { beginChange, BY_CODE } from './span-group-changes.js';
import { readTexts } from './span-group-definition.js';
import { parseSpanGroupSpec, resolveSpec, specProblem } from './span-group-spec.js';
import { reportIfChanged } from './spec-report.js';

/** The only place that switches a group: the enabled set and the gate change together. */
function switchGroup(group: string, enabled: boolean): void {
  if (enabled) processState.enabled.add(group);
  else processState.enabled.delete(group);
  openGate(group);
}

/** Makes exactly these groups the enabled ones. */
export function enableExactly(groups: ReadonlySet<string>): void {
  for (const group of [...processState.enabled]) {
    if (!groups.has(group)) switchGroup(group, false);
  }
  for (const group of groups) {
    if (!processState.enabled.has(group)) switchGroup(group, true);
  }
}

/** Makes the layer of a spec, about which nothing was reported so far. */
export function createLayer(raw: string): SpecLayer {
  return { spec: parseSpanGroupSpec(raw), lastReport: undefined };
}

/**
 * Resolves a spec against what is registered, switches every group accordingly if the spec is the one that decides, and
 * returns the warnings about it.
 */
export function resolveLayer(layer = activeLayer(), index = indexRegistry()): Warning[] {
  if (layer === undefined) return [];
  const resolution = resolveSpec(layer.spec, index);
  if (layer === activeLayer()) enableExactly(resolution.enabled);
  return reportIfChanged(layer, resolution, index);
}

/**
 * Puts a spec in force: keeps it, resolves it against what is registered, and switches every group accordingly. Later
 * registrations re-resolve it. Replaces an earlier spec or pin; an override in force, and what a `specSource` gives, stay on top.
 * Warns about names that nothing provides; never throws. What can't be a spec (no text, over 100,000 characters, over 100 wildcards) is a warning,
 * `SPEC_INVALID`, and changes nothing. `setupTelemetry` calls it with the configured spec, so applications rarely need to.
 *
 * @param spec comma-separated presets, groups, wildcards and exclusions, e.g. `default,db_*,-cache`; '' selects nothing
 *
 * @example
 * setSpanGroupSpec('per_request,payment');
 */
export function setSpanGroupSpec(spec: string): void {
  const problem = specProblem(spec);
  if (problem !== undefined) return emitWarnings([{ code: 'SPEC_INVALID', details: { problem } }]);
  const changed = beginChange(BY_CODE);
  processState.pinned = false;
  processState.configured = createLayer(spec);
  const warnings = resolveLayer(baseLayer());
  // What a set-up puts in force is its configuration.
  if (processState.setUp) changed();
  emitWarnings(warnings);
}

/**
 * Pins the enabled groups: exactly these are on, registered or not, until the next `setSpanGroupSpec`. The configured spec
 * and an override are dropped, and later registrations change nothing. This is how a disabled process stays disabled.
 *
 * @param groups names as the sites give them: taken as they are, neither trimmed nor lower-cased
 * @throws TypeError for anything but an iterable of texts; then nothing has changed
 *
 * @example
 * setEnabledSpanGroups([]); // everything off, for good
 */
export function setEnabledSpanGroups(groups: Iterable<string>): void {
  const pinned = new Set(readTexts(groups, 'setEnabledSpanGroups: groups'));
  const changed = beginChange(BY_CODE);
  dropOverride();
  processState.configured = undefined;
  processState.pinned = true;
  enableExactly(pinned);
  if (processState.setUp) changed();
}

/** Takes an override away. The caller has to switch the groups. */
export function dropOverride(): void {
  clearTimeout(processState.override?.timer);
  processState.override = undefined;
}

/**
 * The names of the groups that are on, as a new set. For people and tests; a site asks its gate.
 *
 * @example
 * enabledSpanGroups(); // Set { 'orders', 'payment' }
 */
export function enabledSpanGroups(): ReadonlySet<string> {
  return new Set(processState.enabled);
}

/**
 * The entries of the spec in force for which nothing is registered, as a new set; empty when pinned.
 *
 * @example
 * pendingSpanGroups(); // Set { 'per_requset' }
 */
export function pendingSpanGroups(): ReadonlySet<string> {
  const layer = activeLayer();
  return layer === undefined ? new Set() : resolveSpec(layer.spec, indexRegistry()).pending;
}

/** Forgets specs, pin, override and changes, and turns every group off, in silence: what a shutdown leaves behind. */
export function forgetSpanGroupState(): void {
  dropOverride();
  processState.configured = undefined;
  processState.sourced = undefined;
  processState.pinned = false;
  processState.setUp = false;
  ignoreOffCalls();
  processState.endPreview?.();
  processState.changes.length = 0;
  enableExactly(new Set());
}
