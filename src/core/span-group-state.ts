import { createError, NestLensError } from './errors.js';
import { LONGEST_TIMER_MS } from './longest-timer.js';
import { nearestName } from './nearest-name.js';
import { type OverrideLayer, processState, type SpecLayer } from './process-state.js';
import {
  ALL,
  countWildcardMatches,
  matchesWildcard,
  parseSpanGroupSpec,
  pendingEntries,
  selects,
} from './span-group-spec.js';
import { emitWarnings, type RegistryInventory, type Warning } from './warnings.js';

/** The last instant that a Date can hold. */
const LAST_DATE_MS = 8.64e15;

/** The spec that decides now: the override's while there is one, else the kept one. */
export function activeLayer(): SpecLayer | undefined {
  return processState.override ?? processState.kept;
}

/** What the registry holds now, sorted. */
export function registryInventory(): RegistryInventory {
  return {
    groups: [...processState.groupOwners.keys()].sort(),
    presets: [...processState.presetOwners.keys(), ALL].sort(),
    namespaces: [...processState.namespaces.keys()].sort(),
  };
}

function createLayer(raw: string): SpecLayer {
  const layer: SpecLayer = {
    spec: parseSpanGroupSpec(raw),
    wildcardMatches: new Map(),
    lastReport: undefined,
  };
  countWildcards(layer);
  return layer;
}

function countWildcards({ spec, wildcardMatches }: SpecLayer): void {
  for (const wildcard of [...spec.included.wildcards, ...spec.excluded.wildcards]) {
    wildcardMatches.set(wildcard, countWildcardMatches(wildcard, processState));
  }
}

function pendingOf({ spec, wildcardMatches }: SpecLayer): Set<string> {
  return pendingEntries(spec, processState, (wildcard) => wildcardMatches.get(wildcard) ?? 0);
}

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

function enableSelected(): void {
  const layer = activeLayer();
  const selected = new Set<string>();
  if (layer !== undefined) {
    for (const group of processState.groupOwners.keys()) {
      if (selects(layer.spec, group, processState)) selected.add(group);
    }
  }
  enableExactly(selected);
}

function enablesAny(layer: SpecLayer): boolean {
  if (layer === activeLayer()) return processState.enabled.size > 0;
  for (const group of processState.groupOwners.keys()) {
    if (selects(layer.spec, group, processState)) return true;
  }
  return false;
}

/** What is to be said about a layer now: a key by which two reports are compared, and the warnings. */
interface Report {
  readonly key: string;
  /**
   * Measured: the inventory is sorted and searched for near names only for a report that is made. Built for each
   * registration it made a thousand late ones take 200 times as long.
   */
  readonly warnings: () => Warning[];
}

/** Decides what there is to say about a layer, from the state as it is now. */
function judge(layer: SpecLayer): Report {
  const spec = layer.spec.raw;
  const pending = [...pendingOf(layer)].sort();
  const nothingRegistered = processState.groupOwners.size === 0;
  const nothingEnabled = !enablesAny(layer);
  const key = JSON.stringify([pending, nothingRegistered, nothingEnabled]);
  return {
    key,
    warnings: () => {
      if (spec.trim() === '') return [];
      if (nothingRegistered) return [{ code: 'NOTHING_REGISTERED', details: { spec } }];
      if (pending.length > 0) return [unresolved(spec, pending)];
      if (nothingEnabled) {
        return [{ code: 'SPEC_SELECTED_NOTHING', details: { spec, ...registryInventory() } }];
      }
      return [];
    },
  };
}

function unresolved(spec: string, pending: string[]): Warning {
  const registry = registryInventory();
  const names = [...registry.groups, ...registry.presets];
  const nearest: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const entry of pending) {
    const near = nearestName(entry.replace(/^-/, ''), names);
    if (near !== undefined) nearest[entry] = entry.startsWith('-') ? `-${near}` : near;
  }
  return { code: 'SPEC_UNRESOLVED', details: { spec, pending, nearest, ...registry } };
}

/** A report for a spec that was set just now: always made, and remembered. */
function report(layer: SpecLayer): Warning[] {
  const { key, warnings } = judge(layer);
  layer.lastReport = key;
  return warnings();
}

/** A report after a re-resolution: silent when it would say the same as the last time. */
function reportIfChanged(layer: SpecLayer): Warning[] {
  const { key, warnings } = judge(layer);
  if (key === layer.lastReport) return [];
  layer.lastReport = key;
  return warnings();
}

/**
 * Re-resolves the spec in force after the registry changed, and returns what there is to say about it.
 *
 * Only the names that the change touched are looked at, so that n registrations cost n, not n squared.
 *
 * @param touched every group, preset and preset member that the change added or removed
 * @param wasLive of those, the groups that were registered before
 */
export function reselect(touched: Iterable<string>, wasLive: ReadonlySet<string>): Warning[] {
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
  return reportIfChanged(layer);
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

/**
 * Puts another spec over the kept one for a while, e.g. to look closer at a running process. It re-resolves as the kept
 * one does; when it ends, the kept spec is back in force.
 *
 * @param spec like `setSpanGroupSpec`'s
 * @param options `ttlMs`: milliseconds until it ends by itself; without it, it stays until `clearSpanGroupOverride`
 * @throws NestLensError `PINNED` on a pinned process, `INVALID_TTL` for a `ttlMs` that isn't a positive number
 *
 * @example
 * overrideSpanGroups('per_request,db_*', { ttlMs: 15 * 60_000 });
 */
export function overrideSpanGroups(spec: string, options: { ttlMs?: number } = {}): void {
  throwIfPinned();
  const { ttlMs } = options;
  if (ttlMs !== undefined && !(ttlMs > 0 && Date.now() + ttlMs <= LAST_DATE_MS)) {
    throw createError(NestLensError, 'INVALID_TTL', { ttlMs });
  }
  dropOverride();
  const layer: OverrideLayer = {
    ...createLayer(String(spec ?? '')),
    expiresAt: ttlMs === undefined ? undefined : Date.now() + ttlMs,
    timer: undefined,
  };
  processState.override = layer;
  armExpiry(layer);
  enableSelected();
  emitWarnings(report(layer));
}

/**
 * Takes an override away at once; without one it does nothing.
 *
 * @throws NestLensError `PINNED` on a pinned process
 *
 * @example
 * clearSpanGroupOverride();
 */
export function clearSpanGroupOverride(): void {
  throwIfPinned();
  if (processState.override === undefined) return;
  dropOverride();
  const { kept } = processState;
  // The registry may have changed beneath the override.
  if (kept !== undefined) countWildcards(kept);
  enableSelected();
  if (kept !== undefined) emitWarnings(reportIfChanged(kept));
}

function throwIfPinned(): void {
  if (processState.pinned) throw createError(NestLensError, 'PINNED');
}

function dropOverride(): void {
  clearTimeout(processState.override?.timer);
  processState.override = undefined;
}

function armExpiry(layer: OverrideLayer): void {
  if (layer.expiresAt === undefined) return;
  const remaining = layer.expiresAt - Date.now();
  layer.timer = setTimeout(
    () => {
      if (processState.override !== layer) return;
      // A wait longer than a timer takes is made of several.
      if (Date.now() < (layer.expiresAt ?? 0)) armExpiry(layer);
      else clearSpanGroupOverride();
    },
    Math.min(Math.max(remaining, 0), LONGEST_TIMER_MS),
  );
  // An override must not keep a process alive.
  layer.timer.unref?.();
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
