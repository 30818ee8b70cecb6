import { processState } from '../state/process-state.js';
import type { NamespaceRegistration } from '../state/state-shape.js';
import { ALL, normaliseName } from './span-group-spec.js';
import type { RegistryInventory } from '../diagnostics/warning-messages.js';

/** An iterable of names as a set of normalised ones; a bare string counts as one name, not as its letters. */
function normaliseNames(names: Iterable<string>): Set<string> {
  const normalised = new Set<string>();
  for (const name of typeof names === 'string' ? [names] : names) normalised.add(normaliseName(name));
  return normalised;
}

function normalisePresets(presets: Readonly<Record<string, Iterable<string>>>): Map<string, Set<string>> {
  const normalised = new Map<string, Set<string>>();
  for (const [name, members] of Object.entries(presets)) {
    const preset = normaliseName(name);
    const known = normalised.get(preset) ?? new Set<string>();
    for (const member of normaliseNames(members)) known.add(member);
    normalised.set(preset, known);
  }
  return normalised;
}

/** A registration in its normal form, with which two of them can be compared. */
export function normaliseRegistration(
  groups: Iterable<string>,
  presets: Readonly<Record<string, Iterable<string>>>,
): NamespaceRegistration {
  return { groups: normaliseNames(groups), presets: normalisePresets(presets) };
}

/** Adds an owner of a name. */
export function addTo<K>(owners: Map<string, Set<K>>, name: string, owner: K): void {
  const known = owners.get(name);
  if (known === undefined) owners.set(name, new Set([owner]));
  else known.add(owner);
}

function removeFrom<K>(owners: Map<string, Set<K>>, name: string, owner: K): void {
  const known = owners.get(name);
  known?.delete(owner);
  if (known?.size === 0) owners.delete(name);
}

/** Enters a registration into what is derived from the namespaces. */
export function addToIndexes(namespace: string, { groups, presets }: NamespaceRegistration): void {
  for (const group of groups) addTo(processState.groupOwners, group, namespace);
  for (const [preset, members] of presets) {
    addTo(processState.presetOwners, preset, namespace);
    for (const member of members) {
      const counts = processState.presetsOfMember.get(member) ?? new Map<string, number>();
      counts.set(preset, (counts.get(preset) ?? 0) + 1);
      processState.presetsOfMember.set(member, counts);
    }
  }
}

/** Takes a registration out of it. */
export function removeFromIndexes(namespace: string, { groups, presets }: NamespaceRegistration): void {
  for (const group of groups) removeFrom(processState.groupOwners, group, namespace);
  for (const [preset, members] of presets) {
    removeFrom(processState.presetOwners, preset, namespace);
    for (const member of members) {
      const counts = processState.presetsOfMember.get(member);
      const count = (counts?.get(preset) ?? 0) - 1;
      if (count > 0) counts?.set(preset, count);
      else counts?.delete(preset);
      if (counts?.size === 0) processState.presetsOfMember.delete(member);
    }
  }
}

/** What the registry holds now, sorted. */
export function registryInventory(): RegistryInventory {
  return {
    groups: [...processState.groupOwners.keys()].sort(),
    presets: [...processState.presetOwners.keys(), ALL].sort(),
    namespaces: [...processState.namespaces.keys()].sort(),
  };
}
