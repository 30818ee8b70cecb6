import type { Warning } from '../diagnostics/warnings.js';
import { processState } from '../state/process-state.js';
import type { SpecLayer } from '../state/spec-layers.js';
import { nearestName } from './nearest-name.js';
import { OF_INSTRUMENTATIONS } from './registration-origin.js';
import { inventoryOf } from './registry-index.js';
import type { RegistryIndex, Resolution } from './span-group-spec.js';

/**
 * Near names are searched for at most this many pending entries. Each search compares every registered name, and each of many
 * late registrations can cause a report.
 */
const MAX_HINTS = 10;

/** Separators that people write by mistake instead of commas. */
const WRONG_SEPARATORS = /\s*[;|]\s*|\s+/;

/** The warnings about a spec, unless the last report about it said the same. */
export function reportIfChanged(layer: SpecLayer, resolution: Resolution, index: RegistryIndex): Warning[] {
  const pending = [...resolution.pending].sort();
  const key = JSON.stringify([pending, index.groups.size === 0, resolution.enabled.size === 0]);
  if (key === layer.lastReport) return [];
  layer.lastReport = key;
  const { raw: spec, included } = layer.spec;
  if (spec.trim() === '') return [];
  if (index.groups.size === 0) {
    const awaited = areInstrumentationsGated() ? { isAwaited: true } : {};
    return [{ code: 'NOTHING_REGISTERED', details: { spec, ...awaited } }];
  }
  if (pending.length > 0) return [unresolved(layer, pending, index)];
  // A spec with exclusions alone, such as `-all`, selects nothing on purpose.
  if (resolution.enabled.size > 0 || included.length === 0) return [];
  return [{ code: 'SPEC_SELECTED_NOTHING', details: { spec, ...inventoryOf(index) } }];
}

/** Then groups come with the first spans that instrumentations ask for. */
function areInstrumentationsGated(): boolean {
  return [...processState.namespaces.values()].some(({ origin }) => origin.api === OF_INSTRUMENTATIONS);
}

function unresolved(layer: SpecLayer, pending: string[], index: RegistryIndex): Warning {
  const registry = inventoryOf(index);
  const names = [...registry.groups, ...registry.presets];
  const nearest = Object.create(null) as Record<string, string>;
  for (const entry of pending.slice(0, MAX_HINTS)) {
    const found = nearestName(entry.replace(/^-/, ''), names);
    if (found !== undefined) nearest[entry] = entry.startsWith('-') ? `-${found}` : found;
    else if (WRONG_SEPARATORS.test(entry)) nearest[entry] = entry.split(WRONG_SEPARATORS).join(',');
  }
  const spec = layer.spec.raw;
  return { code: 'SPEC_UNRESOLVED', details: { spec, isSet: isSet(layer), pending, nearest, ...registry } };
}

/** Whether the spec was set. If it wasn't, it is `default`, and an application needn't have that preset. */
function isSet(layer: SpecLayer): boolean {
  const { specSource, configuredSpec } = processState.telemetry;
  const isConfigured = layer === processState.configured && layer.spec.raw === configuredSpec;
  return !(isConfigured && specSource === 'default');
}
