import type { Warning } from '../diagnostics/warnings.js';
import { processState } from '../state/process-state.js';
import type { NamespaceRegistration } from '../state/state-shape.js';
import { isSetUpSuperseded } from '../state/superseded-set-up.js';
import { GIVING_WAY } from './registration-origin.js';
import type { ReadDefinition } from './span-group-definition.js';
import type { RegistryIndex } from './span-group-spec.js';

type Names = Pick<NamespaceRegistration, 'groups' | 'presets'>;

const NAME_STYLE = /^[a-z0-9_]+$/;

/**
 * The warnings about a registration that has just been made.
 *
 * @param index of the registry, this registration included
 */
export function registrationWarnings(definition: ReadDefinition, index: RegistryIndex): Warning[] {
  return [
    ...(definition.allowOverride ? [] : collisions(definition)),
    ...(isLeftToTheEndOfABoot(definition) ? [] : unownedMembers(definition.namespace, definition, index)),
    ...nameStyle(definition),
    ...shadowing(definition, index),
    ...(processState.setUp && definition.isReload !== true && !isOfNextSetUp()
      ? [{ code: 'LATE_REGISTRATION', details: { namespace: definition.namespace } } as const]
      : []),
  ];
}

/** If an application boots while the one before it closes, it registers in time for its own set-up. */
function isOfNextSetUp(): boolean {
  return processState.registeredInBoot !== undefined && isSetUpSuperseded();
}

function collisions({ namespace, groups }: ReadDefinition): Warning[] {
  const own = new Set(groups);
  return [...processState.namespaces.keys()].sort().flatMap((otherNamespace): Warning[] => {
    const other = processState.namespaces.get(otherNamespace)!;
    if (otherNamespace === namespace || other.origin.api === GIVING_WAY) return [];
    const shared = other.groups.filter((group) => own.has(group));
    if (shared.length === 0) return [];
    return [{ code: 'GROUP_COLLISION', details: { namespace, otherNamespace, groups: shared } }];
  });
}

export function unownedMembers(
  namespace: string,
  { presets }: NamespaceRegistration,
  index: RegistryIndex,
): Warning[] {
  return Object.entries(presets).flatMap(([preset, names]): Warning[] => {
    const members = names.filter((member) => !index.groups.has(member));
    if (members.length === 0) return [];
    return [{ code: 'PRESET_MEMBER_UNREGISTERED', details: { namespace, preset, members } }];
  });
}

function isLeftToTheEndOfABoot({ namespace }: ReadDefinition): boolean {
  return processState.registeredInBoot?.add(namespace) !== undefined;
}

function nameStyle(definition: ReadDefinition): Warning[] {
  const names = namesOf(definition).filter((name) => !NAME_STYLE.test(name));
  return names.length === 0
    ? []
    : [{ code: 'NAME_STYLE', details: { namespace: definition.namespace, names } }];
}

/**
 * The warnings about names that are both a preset and a group.
 *
 * @param before the registry before the registration, if names that were both already aren't reported again
 */
export function shadowing(
  definition: Names & { readonly namespace: string },
  index: RegistryIndex,
  before?: RegistryIndex,
): Warning[] {
  return namesOf(definition)
    .filter((name) => isBoth(name, index) && !(before !== undefined && isBoth(name, before)))
    .map((name) => ({ code: 'PRESET_SHADOWS_GROUP', details: { namespace: definition.namespace, name } }));
}

function isBoth(name: string, { groups, presets }: RegistryIndex): boolean {
  return groups.has(name) && presets.has(name);
}

function namesOf({ groups, presets }: Names): string[] {
  return [...new Set([...groups, ...Object.keys(presets)])].sort();
}
