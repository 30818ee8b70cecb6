/**
 * The grammar of a spec, and its resolution: pure functions.
 *
 * A spec is a comma-separated list of entries. Case, blanks around entries and empty entries are ignored.
 *
 *     entry     = [ "-" ] name
 *     name      = preset | group | pattern        a name that is both a preset and a group means the preset
 *     pattern   = a name with "*": matches group names, any run of characters for each "*"
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

import { describeValue } from '../diagnostics/quote-details.js';
import type { SpanGroupSpec } from '../state/spec-layers.js';

/** The longest spec, in characters. A longer one is a mistake, and slows down each change of the registry. */
const MAX_SPEC_LENGTH = 100_000;
/**
 * The largest number of patterns in a spec. Each is compared with every group: 100 take 10 ms with 1,000 groups, 1 s with
 * 100,000.
 */
const MAX_PATTERNS = 100;

/** The built-in preset: every registered group. It is never stored as a list and can't be registered. */
export const ALL = 'all';

/** The form in which names are compared: lower case, no blanks around. */
export function normaliseName(name: string): string {
  return String(name).trim().toLowerCase();
}

/** What resolution needs to know of the registry. */
export interface RegistryIndex {
  readonly groups: ReadonlySet<string>;
  /** Preset -> its members, registered or not, of all namespaces. Without `all`. */
  readonly presets: ReadonlyMap<string, ReadonlySet<string>>;
}

/** What a spec means at the moment. */
export interface Resolution {
  readonly enabled: Set<string>;
  /** The entries that match nothing registered, in lower case without blanks around. */
  readonly pending: Set<string>;
}

/** Says why a value can't be a spec; undefined if it can. */
export function specProblem(spec: unknown): string | undefined {
  if (typeof spec !== 'string') return `must be a string such as 'default,db_*', not ${describeValue(spec)}`;
  if (spec.length > MAX_SPEC_LENGTH)
    return `has ${spec.length} characters; at most ${MAX_SPEC_LENGTH} are allowed`;
  const { included, excluded } = parseSpanGroupSpec(spec);
  const patterns = [...included, ...excluded].filter(isPattern).length;
  return patterns > MAX_PATTERNS
    ? `has ${patterns} entries with '*'; at most ${MAX_PATTERNS} are allowed. A preset can name many groups at once`
    : undefined;
}

export function parseSpanGroupSpec(raw: string): SpanGroupSpec {
  const included = new Set<string>();
  const excluded = new Set<string>();
  for (const part of raw.split(',')) {
    const entry = normaliseName(part);
    if (entry.startsWith('-')) excluded.add(entry.slice(1).trim());
    else if (entry !== '') included.add(entry);
  }
  return { raw, included: [...included], excluded: [...excluded] };
}

export function resolveSpec({ included, excluded }: SpanGroupSpec, index: RegistryIndex): Resolution {
  const enabled = new Set<string>();
  const pending = new Set<string>();
  for (const entry of included) {
    const covered = groupsOf(entry, index);
    if (covered === undefined) pending.add(entry);
    else for (const group of covered) enabled.add(group);
  }
  for (const entry of excluded) {
    const covered = groupsOf(entry, index);
    if (covered === undefined) pending.add(`-${entry}`);
    else for (const group of covered) enabled.delete(group);
  }
  return { enabled, pending };
}

/** The registered groups that an entry (without its sign) covers; undefined if it matches nothing registered. */
export function groupsOf(entry: string, { groups, presets }: RegistryIndex): Iterable<string> | undefined {
  if (entry === ALL) return groups;
  if (isPattern(entry)) {
    const matches = patternMatcher(entry);
    const matching: string[] = [];
    for (const group of groups) if (matches(group)) matching.push(group);
    return matching.length === 0 ? undefined : matching;
  }
  const members = presets.get(entry);
  if (members !== undefined) return [...members].filter((member) => groups.has(member));
  return groups.has(entry) ? [entry] : undefined;
}

function isPattern(entry: string): boolean {
  return entry.includes('*');
}

/**
 * Looks for each piece of the pattern at its first place after the piece before. That is enough: a later star can skip
 * whatever an earlier star could, so no piece is searched twice. A regular expression can backtrack for minutes.
 */
function patternMatcher(pattern: string): (name: string) => boolean {
  // Several stars in a row mean one star.
  const [head, ...pieces] = pattern.split(/\*+/) as [string, ...string[]];
  const tail = pieces.pop() ?? '';
  const shortest = head.length + tail.length;
  return (name) => {
    if (name.length < shortest || !name.startsWith(head) || !name.endsWith(tail)) return false;
    const end = name.length - tail.length;
    let at = head.length;
    for (const piece of pieces) {
      const found = name.indexOf(piece, at);
      if (found === -1 || found + piece.length > end) return false;
      at = found + piece.length;
    }
    return true;
  };
}
