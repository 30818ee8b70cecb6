import { describeBriefly } from '../diagnostics/quote-details.js';
import type { Warning } from '../diagnostics/warnings.js';
import { nearestName } from '../groups/nearest-name.js';
import { ALL, normaliseName } from '../groups/span-group-spec.js';
import type { InstrumentationGroupsOptions } from './instrumentation-groups-options.js';
import { isTaken, snakeCase } from './scope-group-name.js';

/** The options of an application, as far as they are valid. */
export interface CheckedOptions {
  /** Scope, or the default name of its group -> the chosen name of the group; `false` leaves the scope alone. */
  readonly names: ReadonlyMap<string, string | false>;
  readonly presets: ReadonlyMap<string, readonly string[]>;
  /** Warnings about invalid options. */
  readonly warnings: readonly Warning[];
}

const KEYS: readonly string[] = ['names', 'presets'];

/** Reads the options. An invalid part gives a warning and is left out; the function never throws. */
export function readOptions(options: InstrumentationGroupsOptions): CheckedOptions {
  const warnings: Warning[] = [];
  const attempt = (option: string, value: unknown, read: () => void): void => {
    try {
      read();
    } catch {
      warnings.push(invalidOption(option, value));
    }
  };
  const names = new Map<string, string | false>();
  const presets = new Map<string, readonly string[]>();
  const given: Record<string, unknown> = {};
  attempt('', options, () => Object.assign(given, entriesOf(options)));
  for (const key of Object.keys(given)) {
    if (!KEYS.includes(key)) warnings.push(unknownOption(key, given[key]));
  }
  attempt('names', given.names, () => {
    for (const [scope, value] of Object.entries(entriesOf(given.names))) {
      const option = `names['${scope}']`;
      attempt(option, value, () => {
        const used = groupNameFrom(value);
        if (used !== false && used !== normaliseName(String(value))) {
          warnings.push(invalidOption(option, value, used));
        }
        names.set(scope, used);
      });
    }
  });
  attempt('presets', given.presets, () => {
    for (const [preset, members] of Object.entries(entriesOf(given.presets))) {
      attempt(`presets['${preset}']`, members, () =>
        presets.set(presetNameFrom(preset), namesIn(members as Iterable<string>)),
      );
    }
  });
  return { names, presets, warnings };
}

/** A copy of an object of entries; lists and maps are not such objects. Throws for other values. */
function entriesOf(value: unknown): Record<string, unknown> {
  if (value === undefined || value === null) return {};
  if (typeof value !== 'object' || Symbol.iterator in value) throw new TypeError('not an object of entries');
  return { ...value };
}

/**
 * A warning about an invalid value.
 *
 * @param option the path below `instrumentationGroups`; '' for the option itself
 * @param used the value that is used instead, if any
 */
export function invalidOption(option: string, value: unknown, used?: string): Warning {
  return {
    code: 'INSTRUMENTATION_OPTION_INVALID',
    details: { option: pathOf(option), given: describeBriefly(value), used },
  };
}

function unknownOption(key: string, value: unknown): Warning {
  const nearest = nearestName(key, KEYS);
  return {
    code: 'INSTRUMENTATION_OPTION_INVALID',
    details: { option: pathOf(key), given: describeBriefly(value), used: undefined, nearest },
  };
}

/** The path as users write it: `instrumentationGroups.names['my-lib']`. */
export function pathOf(option: string): string {
  return option === '' ? 'instrumentationGroups' : `instrumentationGroups.${option}`;
}

/** Throws if the value is no group name and contains none. */
function groupNameFrom(value: unknown): string | false {
  if (value === false) return false;
  const given = textFrom(value);
  const name = /^[a-z0-9_]+$/.test(given) ? given : snakeCase(String(value));
  if (name === '' || isTaken(name)) throw new TypeError(name);
  return name;
}

function presetNameFrom(value: string): string {
  const name = normaliseName(value);
  if (name === '' || name === ALL) throw new TypeError(name);
  return name;
}

function namesIn(members: Iterable<string>): string[] {
  return (typeof members === 'string' ? [members] : [...members]).map(textFrom);
}

function textFrom(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('not a string');
  return normaliseName(value);
}
