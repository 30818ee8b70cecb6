import type { Warning } from '../diagnostics/warnings.js';
import type { SpecLayer } from '../state/state-shape.js';
import { nearestName } from './nearest-name.js';
import { inventoryOf } from './registry-index.js';
import type { RegistryIndex, Resolution } from './span-group-spec.js';

/**
 * For so many pending entries a near name is looked for. Each search looks at every registered name, and a report may follow
 * each of many registrations.
 */
const MAX_HINTS = 10;

/** What there is to say about a spec, unless the last report of its layer said the same. */
export function reportIfChanged(layer: SpecLayer, resolution: Resolution, index: RegistryIndex): Warning[] {
  const pending = [...resolution.pending].sort();
  const key = JSON.stringify([pending, index.groups.size === 0, resolution.enabled.size === 0]);
  if (key === layer.lastReport) return [];
  layer.lastReport = key;
  const spec = layer.spec.raw;
  if (spec.trim() === '') return [];
  if (index.groups.size === 0) return [{ code: 'NOTHING_REGISTERED', details: { spec } }];
  if (pending.length > 0) return [unresolved(spec, pending, index)];
  if (resolution.enabled.size > 0) return [];
  return [{ code: 'SPEC_SELECTED_NOTHING', details: { spec, ...inventoryOf(index) } }];
}

function unresolved(spec: string, pending: string[], index: RegistryIndex): Warning {
  const registry = inventoryOf(index);
  const names = [...registry.groups, ...registry.presets];
  const nearest = Object.create(null) as Record<string, string>;
  for (const entry of pending.slice(0, MAX_HINTS)) {
    const found = nearestName(entry.replace(/^-/, ''), names);
    if (found !== undefined) nearest[entry] = entry.startsWith('-') ? `-${found}` : found;
  }
  return { code: 'SPEC_UNRESOLVED', details: { spec, pending, nearest, ...registry } };
}
