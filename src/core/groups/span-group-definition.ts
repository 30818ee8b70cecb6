import type { NamespaceRegistration } from '../state/state-shape.js';
import { normaliseName } from './span-group-spec.js';

/** What a library or application registers: its namespace, its groups, and the presets that name them. */
export interface SpanGroupDefinition {
  /** The owner; taken as it is. */
  namespace: string;
  /** Every group that it can emit; lowercase snake_case. */
  groups: Iterable<string>;
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
}

/**
 * Reads a definition. The only place that runs a caller's iterables, which may be generators and can be read only once.
 * Reading what was read already changes nothing.
 */
export function readDefinition({
  namespace,
  groups,
  presets,
  allowOverride = false,
}: SpanGroupDefinition): ReadDefinition {
  const read = new Map<string, string[]>();
  for (const [name, members] of Object.entries(presets ?? {})) {
    const preset = normaliseName(name);
    read.set(preset, readNames([...(read.get(preset) ?? []), ...readNames(members)]));
  }
  const names = [...read.keys()].sort();
  return {
    namespace,
    groups: readNames(groups),
    // `fromEntries` makes a preset named `__proto__` a key like any other.
    presets: Object.fromEntries(names.map((name) => [name, read.get(name)!])),
    allowOverride,
  };
}

/** A bare string counts as one name, not as its letters. */
function readNames(names: Iterable<string>): string[] {
  const normalised = new Set<string>();
  for (const name of typeof names === 'string' ? [names] : names) normalised.add(normaliseName(name));
  return [...normalised].sort();
}

/** Whether two registrations have the same groups and presets. What was read is sorted, so they can be compared as text. */
export function isSameRegistration(a: NamespaceRegistration, b: NamespaceRegistration): boolean {
  return JSON.stringify([a.groups, a.presets]) === JSON.stringify([b.groups, b.presets]);
}
