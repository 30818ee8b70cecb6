/**
 * The grammar of a spec, and its resolution: pure functions.
 *
 * A spec is a comma-separated list of entries. Case, blanks around entries and empty entries are ignored.
 *
 *     entry     = [ "-" ] name
 *     name      = preset | group | pattern        a name that is both a preset and a group means the preset
 *     pattern   = a text with "*": matches group names, any run of characters for each "*"
 *
 * An entry includes groups; with a leading "-" it takes them away. Exclusions apply after all inclusions, wherever they
 * stand. "all" is the built-in preset of every registered group.
 *
 *     default                 the groups of the preset "default", of every library that defines one
 *     per_request,db_query    a preset and one more group
 *     all,-cache              everything but "cache"
 *     default,-db_*           "default" without the groups whose names begin with "db_"
 *     orders_*                every group whose name begins with "orders_"
 *
 * An entry for which nothing is registered is *pending*: it selects nothing, cancels nothing, and counts from the moment
 * that something of that name is registered.
 */

import type { SpanGroupSpec, SpecSide } from '../state/state-shape.js';

/** The built-in preset: every registered group. Never a stored list, never registrable. */
export const ALL = 'all';

/** How names are compared: without blanks around them, in lower case. */
export function normaliseName(name: string): string {
  return String(name).trim().toLowerCase();
}

/** The part of the registry that resolution reads. */
export interface RegistryIndex {
  readonly groupOwners: ReadonlyMap<string, unknown>;
  readonly presetOwners: ReadonlyMap<string, unknown>;
  readonly presetsOfMember: ReadonlyMap<string, ReadonlyMap<string, unknown>>;
}

export function parseSpanGroupSpec(raw: string): SpanGroupSpec {
  const included = { names: new Set<string>(), wildcards: new Set<string>() };
  const excluded = { names: new Set<string>(), wildcards: new Set<string>() };
  for (const part of raw.split(',')) {
    const entry = normaliseName(part);
    if (entry === '') continue;
    const side = entry.startsWith('-') ? excluded : included;
    const name = side === excluded ? entry.slice(1).trim() : entry;
    (name.includes('*') ? side.wildcards : side.names).add(name);
  }
  return {
    raw,
    included: { names: included.names, wildcards: [...included.wildcards] },
    excluded: { names: excluded.names, wildcards: [...excluded.wildcards] },
  };
}

/** The names and wildcards of a side through which it covers a registered group, in no particular order. */
export function coveringEntries(side: SpecSide, group: string, index: RegistryIndex): string[] {
  const entries: string[] = [];
  if (side.names.has(ALL)) entries.push(ALL);
  if (side.names.has(group) && !index.presetOwners.has(group)) entries.push(group);
  for (const preset of index.presetsOfMember.get(group)?.keys() ?? []) {
    if (side.names.has(preset)) entries.push(preset);
  }
  for (const wildcard of side.wildcards) {
    if (matchesWildcard(wildcard, group)) entries.push(wildcard);
  }
  return entries;
}

/** Whether a spec turns a group on: the one rule of selection. */
export function selects(spec: SpanGroupSpec, group: string, index: RegistryIndex): boolean {
  return (
    index.groupOwners.has(group) &&
    coveringEntries(spec.included, group, index).length > 0 &&
    coveringEntries(spec.excluded, group, index).length === 0
  );
}

/** The entries for which no registered name exists, as they were typed but for case and blanks. */
export function pendingEntries(
  spec: SpanGroupSpec,
  index: RegistryIndex,
  countMatches: (wildcard: string) => number,
): Set<string> {
  const pending = new Set<string>();
  for (const [side, sign] of [
    [spec.included, ''],
    [spec.excluded, '-'],
  ] as const) {
    for (const name of side.names) {
      if (name !== ALL && !index.presetOwners.has(name) && !index.groupOwners.has(name))
        pending.add(sign + name);
    }
    for (const wildcard of side.wildcards) {
      if (countMatches(wildcard) === 0) pending.add(sign + wildcard);
    }
  }
  return pending;
}

export function countWildcardMatches(wildcard: string, index: RegistryIndex): number {
  let count = 0;
  for (const group of index.groupOwners.keys()) {
    if (matchesWildcard(wildcard, group)) count++;
  }
  return count;
}

/** Greedy matching, piece by piece: linear in the name, where a regular expression could be made to backtrack. */
export function matchesWildcard(wildcard: string, name: string): boolean {
  const [head, ...pieces] = wildcard.split('*') as [string, ...string[]];
  const tail = pieces.pop() ?? '';
  if (name.length < head.length + tail.length || !name.startsWith(head) || !name.endsWith(tail)) return false;
  const end = name.length - tail.length;
  let at = head.length;
  for (const piece of pieces) {
    const found = name.indexOf(piece, at);
    if (found === -1 || found + piece.length > end) return false;
    at = found + piece.length;
  }
  return true;
}
