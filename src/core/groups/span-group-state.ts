import { processState } from '../state/process-state.js';
import { matchesWildcard, selects } from './span-group-spec.js';
import { activeLayer, createLayer, pendingOf } from './spec-layer.js';
import { report, reportIfChanged } from './spec-report.js';
import { emitWarnings, type Warning } from '../diagnostics/warnings.js';

/** The only place that switches a group: the enabled set and the gates that sites hold change together. */
function switchGroup(group: string, enabled: boolean): void {
  if (enabled) processState.enabled.add(group);
  else processState.enabled.delete(group);
  const gate = processState.gates.get(group);
  if (gate !== undefined) gate.enabled = enabled;
}

/** Makes exactly these groups the enabled ones. */
function enableExactly(groups: ReadonlySet<string>): void {
  for (const group of [...processState.enabled]) {
    if (!groups.has(group)) switchGroup(group, false);
  }
  for (const group of groups) switchGroup(group, true);
}

/** Switches every group as the spec in force says. */
export function enableSelected(): void {
  const layer = activeLayer();
  const selected = new Set<string>();
  if (layer !== undefined) {
    for (const group of processState.groupOwners.keys()) {
      if (selects(layer.spec, group, processState)) selected.add(group);
    }
  }
  enableExactly(selected);
}

/**
 * Re-resolves the spec in force after the registry changed, and returns what there is to say about it.
 *
 * Only the names that the change touched are looked at, so that n registrations cost n, not n squared.
 *
 * @param touched every group, preset and preset member that the change added or removed
 * @param wasLive of those, the groups that were registered before
 */
export function reselect(touched: ReadonlySet<string>, wasLive: ReadonlySet<string>): Warning[] {
  const layer = activeLayer();
  if (layer === undefined) return [];
  for (const name of touched) {
    const live = processState.groupOwners.has(name);
    if (live !== wasLive.has(name)) {
      for (const [wildcard, count] of layer.wildcardMatches) {
        if (matchesWildcard(wildcard, name)) layer.wildcardMatches.set(wildcard, count + (live ? 1 : -1));
      }
    }
    const selected = selects(layer.spec, name, processState);
    if (selected !== processState.enabled.has(name)) switchGroup(name, selected);
  }
  return reportIfChanged(layer, touched);
}

/**
 * Puts a spec in force: keeps it, resolves it against what is registered, and switches every group accordingly. Later
 * registrations re-resolve it. Replaces an earlier spec or pin; an override in force stays on top. Warns about names that
 * nothing provides; never throws. `setupTelemetry` calls it with the configured spec, so applications rarely need to.
 *
 * @param spec comma-separated presets, groups, wildcards and exclusions, e.g. `default,db_*,-cache`; '' selects nothing
 *
 * @example
 * setSpanGroupSpec('per_request,payment');
 */
export function setSpanGroupSpec(spec: string): void {
  const layer = createLayer(String(spec ?? ''));
  processState.pinned = false;
  processState.kept = layer;
  enableSelected();
  emitWarnings(report(layer));
}

/**
 * Pins the enabled groups: exactly these are on, registered or not, until the next `setSpanGroupSpec`. The kept spec and
 * an override are dropped, and later registrations change nothing. This is how a disabled process stays disabled.
 *
 * @param groups names as the sites give them: taken as they are, neither trimmed nor lower-cased
 *
 * @example
 * setEnabledSpanGroups([]); // everything off, for good
 */
export function setEnabledSpanGroups(groups: Iterable<string>): void {
  const pinned = new Set(typeof groups === 'string' ? [groups] : groups);
  dropOverride();
  processState.kept = undefined;
  processState.pinned = true;
  enableExactly(pinned);
}

/** Takes an override away, and leaves what is on to the caller. */
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
  return layer === undefined ? new Set() : pendingOf(layer);
}

/** Forgets spec, pin and override, and turns every group off, in silence: what a shutdown leaves behind. */
export function forgetSpanGroupState(): void {
  dropOverride();
  processState.kept = undefined;
  processState.pinned = false;
  processState.setUp = false;
  enableExactly(new Set());
}
