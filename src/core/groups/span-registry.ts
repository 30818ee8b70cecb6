import { createError, SpanRegistryError } from '../diagnostics/errors.js';
import { processState } from '../state/process-state.js';
import type { NamespaceRegistration } from '../state/state-shape.js';
import {
  addTo,
  addToIndexes,
  normaliseRegistration,
  registryInventory,
  removeFromIndexes,
} from './registry-index.js';
import { ALL, countWildcardMatches, parseSpanGroupSpec, pendingEntries, selects } from './span-group-spec.js';
import { reselect } from './span-group-state.js';
import { emitWarnings, reportForeignState, type Warning } from '../diagnostics/warnings.js';

const NAME_STYLE = /^[a-z0-9_]+$/;

/** Every name that adding or removing a registration can switch. */
function touchedNames({ groups, presets }: NamespaceRegistration): Set<string> {
  const touched = new Set(groups);
  for (const [preset, members] of presets) {
    touched.add(preset); // a group of that name is shadowed, or not any more
    for (const member of members) touched.add(member);
  }
  return touched;
}

function liveAmong(names: Iterable<string>): Set<string> {
  const live = new Set<string>();
  for (const name of names) if (processState.groupOwners.has(name)) live.add(name);
  return live;
}

/** Replaces a namespace's registration (or adds, or removes it) and re-resolves the spec: one change, no user code in it. */
function commit(namespace: string, next: NamespaceRegistration | undefined): Warning[] {
  const previous = processState.namespaces.get(namespace);
  const touched = new Set<string>();
  for (const registration of [previous, next]) {
    if (registration !== undefined) for (const name of touchedNames(registration)) touched.add(name);
  }
  const wasLive = liveAmong(touched);
  if (previous !== undefined) removeFromIndexes(namespace, previous);
  if (next === undefined) {
    processState.namespaces.delete(namespace);
  } else {
    processState.namespaces.set(namespace, next);
    addToIndexes(namespace, next);
  }
  return reselect(touched, wasLive);
}

function collisions(namespace: string, groups: ReadonlySet<string>): Warning[] {
  const shared = new Map<string, Set<string>>();
  for (const group of groups) {
    for (const owner of processState.groupOwners.get(group) ?? []) {
      if (owner !== namespace) addTo(shared, owner, group);
    }
  }
  return [...shared.keys()].sort().map((otherNamespace) => ({
    code: 'GROUP_COLLISION',
    details: { namespace, otherNamespace, groups: [...shared.get(otherNamespace)!].sort() },
  }));
}

function unownedMembers(namespace: string, { presets }: NamespaceRegistration): Warning[] {
  // After the commit the live groups are this call's and every other namespace's: exactly those that count as owned.
  return [...presets.keys()].sort().flatMap((preset): Warning[] => {
    const members = [...presets.get(preset)!]
      .filter((member) => !processState.groupOwners.has(member))
      .sort();
    return members.length === 0
      ? []
      : [{ code: 'PRESET_MEMBER_UNREGISTERED', details: { namespace, preset, members } }];
  });
}

function nameStyle(namespace: string, { groups, presets }: NamespaceRegistration): Warning[] {
  const names = [...new Set([...groups, ...presets.keys()])].filter((name) => !NAME_STYLE.test(name)).sort();
  return names.length === 0 ? [] : [{ code: 'NAME_STYLE', details: { namespace, names } }];
}

function shadowing(namespace: string, { groups, presets }: NamespaceRegistration): Warning[] {
  return [...new Set([...groups, ...presets.keys()])]
    .filter((name) => processState.groupOwners.has(name) && processState.presetOwners.has(name))
    .sort()
    .map((name) => ({ code: 'PRESET_SHADOWS_GROUP', details: { namespace, name } }));
}

function register(
  namespace: string,
  groups: Iterable<string>,
  presets: Readonly<Record<string, Iterable<string>>> = {},
  options: { allowOverride?: boolean } = {},
): void {
  reportForeignState();
  const { allowOverride = false } = options;
  if (namespace === '') throw createError(SpanRegistryError, 'EMPTY_NAMESPACE');
  // The iterables are the caller's code (generators may even register): they are read before anything is decided.
  const registration = normaliseRegistration(groups, presets ?? {});
  if (registration.groups.has('')) throw createError(SpanRegistryError, 'EMPTY_GROUP_NAME', { namespace });
  if (registration.groups.has(ALL)) {
    throw createError(SpanRegistryError, 'RESERVED_NAME', { namespace, kind: 'group' });
  }
  if (processState.namespaces.has(namespace) && !allowOverride) {
    throw createError(SpanRegistryError, 'NAMESPACE_REGISTERED', { namespace });
  }
  if (registration.presets.has(ALL)) {
    throw createError(SpanRegistryError, 'RESERVED_NAME', { namespace, kind: 'preset' });
  }
  const resolution = commit(namespace, registration);
  emitWarnings([
    ...(allowOverride ? [] : collisions(namespace, registration.groups)),
    ...unownedMembers(namespace, registration),
    ...nameStyle(namespace, registration),
    ...shadowing(namespace, registration),
    ...(processState.setUp ? [{ code: 'LATE_REGISTRATION', details: { namespace } } as const] : []),
    ...resolution,
  ]);
}

function unregister(namespace: string): void {
  if (!processState.namespaces.has(namespace)) {
    const { namespaces } = registryInventory();
    throw createError(SpanRegistryError, 'NAMESPACE_NOT_REGISTERED', { namespace, namespaces });
  }
  emitWarnings(commit(namespace, undefined));
}

function clear(): void {
  const { namespaces, groupOwners, presetOwners, presetsOfMember } = processState;
  const touched = new Set([...groupOwners.keys(), ...presetsOfMember.keys(), ...presetOwners.keys()]);
  const wasLive = liveAmong(touched);
  for (const index of [namespaces, groupOwners, presetOwners, presetsOfMember]) index.clear();
  emitWarnings(reselect(touched, wasLive));
}

function groups(): ReadonlySet<string> {
  return new Set(processState.groupOwners.keys());
}

function namespaces(): readonly string[] {
  return [...processState.namespaces.keys()].sort();
}

function presets(): ReadonlyMap<string, ReadonlySet<string>> {
  const unions = new Map<string, Set<string>>([[ALL, new Set(processState.groupOwners.keys())]]);
  for (const preset of processState.presetOwners.keys()) unions.set(preset, new Set());
  for (const [member, counts] of processState.presetsOfMember) {
    if (!processState.groupOwners.has(member)) continue;
    for (const preset of counts.keys()) unions.get(preset)!.add(member);
  }
  return unions;
}

function resolve(spec: string): { enabled: ReadonlySet<string>; pending: ReadonlySet<string> } {
  const parsed = parseSpanGroupSpec(String(spec ?? ''));
  const enabled = new Set<string>();
  for (const group of processState.groupOwners.keys()) {
    if (selects(parsed, group, processState)) enabled.add(group);
  }
  const pending = pendingEntries(parsed, processState, (wildcard) =>
    countWildcardMatches(wildcard, processState),
  );
  return { enabled, pending };
}

/** The calls of {@link SpanRegistry}. */
export interface SpanRegistryApi {
  /**
   * Declares the span groups that a library or application can emit. Names are trimmed and lower-cased. A group that
   * another namespace has too is shared: one gate for both. A preset may name any group; members that nobody owns are
   * ignored until somebody does. The kept spec is re-resolved before the call returns; then warnings are logged.
   *
   * @param namespace the owner, taken as it is; the key for `unregister`
   * @param groups every group name, from any iterable; lowercase snake_case
   * @param presets named subsets; presets of one name are united over all namespaces. Default: none
   * @param options `allowOverride` (default false): replace what the namespace registered before, and don't warn about
   * groups that another namespace has too
   * @throws SpanRegistryError `EMPTY_NAMESPACE`, `EMPTY_GROUP_NAME`, `RESERVED_NAME` (`all`), `NAMESPACE_REGISTERED`; then
   * nothing has changed
   *
   * @example
   * SpanRegistry.register('shop', ['orders', 'payment'], { default: ['orders'] });
   */
  register(
    namespace: string,
    groups: Iterable<string>,
    presets?: Readonly<Record<string, Iterable<string>>>,
    options?: { allowOverride?: boolean },
  ): void;
  /**
   * Removes a namespace's groups and presets. A shared group lives until its last owner is gone.
   *
   * @throws SpanRegistryError `NAMESPACE_NOT_REGISTERED`
   */
  unregister(namespace: string): void;
  /** Removes every namespace. */
  clear(): void;
  /** Every registered group, as a new set. */
  groups(): ReadonlySet<string>;
  /** Every namespace, sorted, as a new array. */
  namespaces(): readonly string[];
  /** Every preset with its registered members, `all` included, as a new map. */
  presets(): ReadonlyMap<string, ReadonlySet<string>>;
  /** What a spec would turn on, and which of its entries match nothing. Changes nothing, never throws. */
  resolve(spec: string): { enabled: ReadonlySet<string>; pending: ReadonlySet<string> };
}

/**
 * The span groups and presets that exist in this process. Shared by all copies of the package; empty at first, since
 * NestLens has no groups of its own.
 *
 * @example
 * SpanRegistry.register('shop', ['orders', 'payment'], { default: ['orders'] });
 * SpanRegistry.resolve('default'); // { enabled: Set { 'orders' }, pending: Set {} }
 */
export const SpanRegistry: SpanRegistryApi = Object.freeze({
  register,
  unregister,
  clear,
  groups,
  namespaces,
  presets,
  resolve,
});
