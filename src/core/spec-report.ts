import { nearestName } from './nearest-name.js';
import { processState, type SpecLayer } from './process-state.js';
import { selects } from './span-group-spec.js';
import { registryInventory } from './registry-index.js';
import { activeLayer, pendingOf } from './spec-layer.js';
import { MOST_NAMES_SHOWN, type Warning } from './warning-messages.js';

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
  // Only for names that the message shows: each is compared with every registered name.
  for (const entry of pending.slice(0, MOST_NAMES_SHOWN)) {
    const near = nearestName(entry.replace(/^-/, ''), names);
    if (near !== undefined) nearest[entry] = entry.startsWith('-') ? `-${near}` : near;
  }
  return { code: 'SPEC_UNRESOLVED', details: { spec, pending, nearest, ...registry } };
}

/** A report for a spec that was set just now: always made, and remembered. */
export function report(layer: SpecLayer): Warning[] {
  const { key, warnings } = judge(layer);
  layer.lastReport = key;
  return warnings();
}

/** A report after a re-resolution: silent when it would say the same as the last time. */
export function reportIfChanged(layer: SpecLayer): Warning[] {
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
