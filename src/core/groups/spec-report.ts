import { nearestName } from './nearest-name.js';
import { processState } from '../state/process-state.js';
import type { SpecLayer } from '../state/state-shape.js';
import { selects } from './span-group-spec.js';
import { registryInventory } from './registry-index.js';
import { activeLayer, pendingOf } from './spec-layer.js';
import { MAX_NAMES_SHOWN, type Warning } from '../diagnostics/warning-messages.js';

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
      if (pending.length > 0) return [unresolved(layer, pending)];
      if (nothingEnabled) {
        return [{ code: 'SPEC_SELECTED_NOTHING', details: { spec, ...registryInventory() } }];
      }
      return [];
    },
  };
}

function unresolved(layer: SpecLayer, pending: string[]): Warning {
  const registry = registryInventory();
  const nearest = nearNames(layer, pending, [...registry.groups, ...registry.presets]);
  return { code: 'SPEC_UNRESOLVED', details: { spec: layer.spec.raw, pending, nearest, ...registry } };
}

/** What is known of near names so far. */
interface Hints {
  readonly near: ReadonlyMap<string, string | undefined>;
  /** What was registered, or removed, since. */
  readonly touched: Set<string>;
}

/**
 * Kept, since a search looks at every registered name. Measured: with all of them looked at for each report, four hundred late
 * registrations that each resolve something took a minute.
 */
const hintsOf = new WeakMap<SpecLayer, Hints>();

/** How many names are compared, in a report that follows another one, for entries that this one is the first to show. */
const MAX_PAIRS_AGAIN = 5_000;

/** For each pending entry that the message shows, the registered name that it was probably meant to be. */
function nearNames(layer: SpecLayer, pending: string[], names: readonly string[]): Record<string, string> {
  const hints = hintsOf.get(layer);
  const { groupOwners, presetOwners } = processState;
  const isRegistered = (name: string): boolean => groupOwners.has(name) || presetOwners.has(name);
  const added = [...(hints?.touched ?? [])].filter(isRegistered);
  const near = new Map<string, string | undefined>();
  const shown = Object.create(null) as Record<string, string>;
  let pairsLeft = hints === undefined ? Infinity : MAX_PAIRS_AGAIN;
  for (const entry of pending.slice(0, MAX_NAMES_SHOWN)) {
    const name = entry.replace(/^-/, '');
    const known = hints?.near.get(entry);
    const isKnown = hints?.near.has(entry) === true && (known === undefined || isRegistered(known));
    const isSearched = !isKnown && (pairsLeft -= names.length) >= 0;
    const found = nearestName(name, isSearched ? names : [...(isKnown && known ? [known] : []), ...added]);
    near.set(entry, found);
    if (found !== undefined) shown[entry] = entry.startsWith('-') ? `-${found}` : found;
  }
  hintsOf.set(layer, { near, touched: new Set() });
  return shown;
}

/** A report for a spec that was set just now: always made, and remembered. */
export function report(layer: SpecLayer): Warning[] {
  const { key, warnings } = judge(layer);
  layer.lastReport = key;
  return warnings();
}

/**
 * A report after a re-resolution: silent when it would say the same as the last time.
 *
 * @param touched the names that the registry has got or lost; undefined: nobody knows
 */
export function reportIfChanged(layer: SpecLayer, touched?: Iterable<string>): Warning[] {
  if (touched === undefined) hintsOf.delete(layer);
  else for (const name of touched) hintsOf.get(layer)?.touched.add(name);
  const { key, warnings } = judge(layer);
  if (key === layer.lastReport) return [];
  layer.lastReport = key;
  return warnings();
}

function enablesAny(layer: SpecLayer): boolean {
  if (layer === activeLayer()) return processState.enabled.size > 0;
  for (const group of processState.groupOwners.keys()) {
    if (selects(layer.spec, group, processState)) return true;
  }
  return false;
}
