import { argumentError } from '../diagnostics/argument-error.js';
import type { NamespaceRegistration, RegistrationOrigin } from '../state/state-shape.js';
import { originOf } from './registration-origin.js';
import { normaliseName } from './span-group-spec.js';

/**
 * What a library or application registers: its namespace, its groups, and the presets that name them. `G` are the names that
 * its groups may have. They are any strings, except in `forRoot` and `forFeature` of an application that has merged names into
 * `SpanGroupNames`.
 */
export interface SpanGroupDefinition<G extends string = string> {
  /** The owner's name, taken as given. */
  namespace: string;
  /** Every group that the owner can emit; lowercase snake_case. */
  groups: Iterable<G>;
  /** Named subsets. @defaultValue none */
  presets?: Record<string, Iterable<string>>;
  /** Replace an earlier registration of the namespace, and don't warn about shared groups. @defaultValue false */
  allowOverride?: boolean;
}

/** A definition whose iterables have been read: plain arrays of normalised names, unique and sorted. */
export interface ReadDefinition extends SpanGroupDefinition {
  groups: string[];
  presets: Record<string, string[]>;
  allowOverride: boolean;
  readonly origin: RegistrationOrigin;
  /** Whether it replaces what its module registered before a hot reload. Then it is not late. */
  readonly isReload?: boolean;
}

/**
 * Reads a definition and checks its types. Only this function reads a caller's iterables, which may be generators that can be
 * read once. Reading the result again changes nothing.
 *
 * @param from the function that was given the definition, for errors
 * @param caller the public function itself, so that errors can name the line that called it
 * @throws TypeError for something of a wrong type
 */
export function readDefinition(
  definition: SpanGroupDefinition & { readonly origin?: RegistrationOrigin },
  from: string,
  caller?: (...args: never[]) => unknown,
): ReadDefinition {
  if (typeof definition !== 'object' || definition === null || Array.isArray(definition)) {
    throw argumentError(`${from}: a definition`, 'an object with namespace and groups', definition);
  }
  const { namespace, groups, presets, allowOverride = false } = definition;
  if (typeof namespace !== 'string') throw argumentError(`${from}: namespace`, 'a string', namespace);
  if (typeof allowOverride !== 'boolean') {
    throw argumentError(`${from}: allowOverride`, 'true or false', allowOverride);
  }
  return {
    namespace,
    groups: readNames(groups, `${from}: groups`),
    presets: readPresets(presets ?? {}, `${from}: presets`),
    allowOverride,
    origin: definition.origin ?? originOf(from, caller),
  };
}

/** Reads a list of definitions, as {@link readDefinition} does each. */
export function readDefinitions(
  definitions: SpanGroupDefinition[],
  from: string,
  caller?: (...args: never[]) => unknown,
): ReadDefinition[] {
  if (!Array.isArray(definitions))
    throw argumentError(`${from}: registrations`, 'an array of definitions', definitions);
  return definitions.map((definition) => readDefinition(definition, from, caller));
}

/** An iterable of strings as an array. A bare string counts as one name, not as its letters. */
export function readTexts(texts: Iterable<string>, what: string): string[] {
  if (typeof texts === 'string') return [texts];
  if (typeof (texts as Partial<Iterable<string>> | null | undefined)?.[Symbol.iterator] !== 'function') {
    throw argumentError(what, 'an array, a set or another iterable of names', texts);
  }
  const read = [...texts];
  const wrong = read.findIndex((text) => typeof text !== 'string');
  if (wrong !== -1) throw argumentError(`${what}: each name`, 'a string', read[wrong]);
  return read;
}

function readNames(names: Iterable<string>, what: string): string[] {
  return sortedUnique(readTexts(names, what).map(normaliseName));
}

function readPresets(presets: Record<string, Iterable<string>>, what: string): Record<string, string[]> {
  if (typeof presets !== 'object' || Symbol.iterator in presets) {
    throw argumentError(what, 'an object of names of groups by name of preset', presets);
  }
  const read = new Map<string, string[]>();
  for (const [name, members] of Object.entries(presets)) {
    const preset = normaliseName(name);
    const names = readNames(members, `${what}: the names of a preset`);
    read.set(preset, sortedUnique([...(read.get(preset) ?? []), ...names]));
  }
  const sorted = [...read.keys()].sort();
  // `fromEntries` treats a preset named `__proto__` like any other key.
  return Object.fromEntries(sorted.map((preset) => [preset, read.get(preset)!]));
}

function sortedUnique(names: readonly string[]): string[] {
  return [...new Set(names)].sort();
}

/** Whether two registrations have the same groups and presets. Both are sorted, so they can be compared as text. */
export function isSameRegistration(a: NamespaceRegistration, b: NamespaceRegistration): boolean {
  return JSON.stringify([a.groups, a.presets]) === JSON.stringify([b.groups, b.presets]);
}
