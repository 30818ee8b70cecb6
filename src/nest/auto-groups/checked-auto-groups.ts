import { describeBriefly } from '../../core/diagnostics/quote-details.js';
import type { Warning } from '../../core/diagnostics/warnings.js';
import { nearestName } from '../../core/groups/nearest-name.js';
import { ALL, normaliseName } from '../../core/groups/span-group-spec.js';
import { snakeCase } from '../../core/instrumentations/scope-group-name.js';
import type { AutoGroupKind } from '../span-group/handler-span.js';
import type { AutoGroupsOptions } from './auto-groups-options.js';
import { ClassSelection } from './class-selection.js';

/** The valid options, and warnings about the others. */
export interface CheckedAutoGroups {
  readonly groups: ReadonlyMap<AutoGroupKind, string>;
  readonly include: ClassSelection;
  readonly exclude: ClassSelection;
  readonly warnings: readonly Warning[];
}

const KINDS: readonly AutoGroupKind[] = ['handlers', 'enhancers', 'providers'];
const LISTS = ['include', 'exclude'] as const;
const KEYS: readonly string[] = [...KINDS, ...LISTS];

/** Presets that these groups are put into. A group of such a name could not be selected alone. */
const PRESETS: readonly string[] = [ALL, 'default', 'per_request'];

/**
 * Reads the option. An invalid part gives a warning and is left out; the function never throws.
 *
 * @param registered groups that the application is known to have registered; their names are used as they are
 */
export function readAutoGroups(given: unknown, registered: ReadonlySet<string>): CheckedAutoGroups {
  const warnings: Warning[] = [];
  const refuse = (option: string, value: unknown, wanted: string, used?: string): void => {
    warnings.push({
      code: 'AUTO_GROUPS_INVALID',
      details: { option, given: describeBriefly(value), wanted, used },
    });
  };
  const groups = new Map<AutoGroupKind, string>();
  const selections = { include: new Set<unknown>(), exclude: new Set<unknown>() };
  const options = readObject(given, () => refuse('autoGroups', given, 'an object'));
  for (const key of Object.keys(options)) {
    if (KEYS.includes(key)) continue;
    const near = nearestName(key, KEYS);
    const hint = near === undefined ? '' : `, probably ${near}`;
    refuse(`autoGroups.${key}`, options[key as keyof AutoGroupsOptions], `one of ${KEYS.join(', ')}${hint}`);
  }
  for (const kind of KINDS) {
    const value: unknown = options[kind];
    if (value === undefined) continue;
    const name = groupNameFrom(value, registered);
    if (name !== undefined) groups.set(kind, name);
    if (name === undefined || name !== normaliseName(value as string)) {
      refuse(
        `autoGroups.${kind}`,
        value,
        "the name of a group in lowercase snake_case, other than 'all' or a preset",
        name,
      );
    }
  }
  for (const list of LISTS) {
    const value: unknown = options[list];
    if (value === undefined) continue;
    for (const target of readList(value, () =>
      refuse(`autoGroups.${list}`, value, 'a list of classes or their names'),
    )) {
      if (typeof target === 'function') selections[list].add(target);
      else if (typeof target === 'string' && target.trim() !== '') selections[list].add(target.trim());
      else refuse(`autoGroups.${list}`, target, 'a list of classes or their names');
    }
  }
  return {
    groups,
    include: new ClassSelection(selections.include),
    exclude: new ClassSelection(selections.exclude),
    warnings,
  };
}

/** A copy, because a getter or a proxy may throw. */
function readObject(given: unknown, refuse: () => void): AutoGroupsOptions {
  if (given === undefined) return {};
  try {
    if (typeof given === 'object' && given !== null && !Array.isArray(given)) return { ...given };
  } catch {
    // Said below.
  }
  refuse();
  return {};
}

/** A single class or name counts as a list of one. */
function readList(value: unknown, refuse: () => void): unknown[] {
  if (typeof value === 'string' || typeof value === 'function') return [value];
  try {
    return [...(value as Iterable<unknown>)];
  } catch {
    refuse();
    return [];
  }
}

function groupNameFrom(value: unknown, registered: ReadonlySet<string>): string | undefined {
  if (typeof value !== 'string') return undefined;
  const name = normaliseName(value);
  const used = registered.has(name) || /^[a-z0-9_]+$/.test(name) ? name : snakeCase(value);
  return used === '' || PRESETS.includes(used) ? undefined : used;
}
