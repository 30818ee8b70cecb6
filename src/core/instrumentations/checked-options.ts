import type { Warning } from '../diagnostics/warnings.js';
import { ALL, normaliseName } from '../groups/span-group-spec.js';
import type { InstrumentationGroupsOptions } from './instrumentation-groups-options.js';
import { groupNameOfScope, isTaken, snakeCase } from './scope-group-name.js';

/** The options of an application, as far as they are valid. */
export interface CheckedOptions {
  /** Scope, or its group's default name -> the chosen name of the group; `false` leaves the scope alone. */
  readonly names: ReadonlyMap<string, string | false>;
  readonly presets: ReadonlyMap<string, readonly string[]>;
  /** Warnings about invalid options. */
  readonly warnings: readonly Warning[];
}

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
  attempt('names', options.names, () => {
    for (const [scope, value] of Object.entries(options.names ?? {})) {
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
  attempt('presets', options.presets, () => {
    for (const [preset, members] of Object.entries(options.presets ?? {})) {
      attempt(`presets['${preset}']`, members, () => presets.set(presetNameFrom(preset), namesIn(members)));
    }
  });
  return { names, presets, warnings };
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
    details: { option: pathOf(option), given: typeof value === 'string' ? `'${value}'` : typeof value, used },
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

/** The application's name for the group of a scope; undefined if it has none. */
export function chosenName({ names }: CheckedOptions, scope: string): string | false | undefined {
  const standard = groupNameOfScope(scope);
  return names.get(scope) ?? [...names].find(([key]) => groupNameOfScope(key) === standard)?.[1];
}
