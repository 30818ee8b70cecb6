import type { Warning } from '../diagnostics/warnings.js';
import { nearestName } from '../groups/nearest-name.js';
import { type CheckedOptions, pathOf } from './checked-options.js';
import { isKnownGroup, isNameOfKnownScope, withoutDirection } from './known-scopes.js';
import { groupNameOfScope } from './scope-group-name.js';

/**
 * The scopes and groups in the options that have matched nothing yet. Scopes become known over time. A misspelt name is
 * reported as soon as the right scope appears, all others when telemetry ends. Names of known instrumentations are never
 * reported, because another process with the same options may have them.
 */
export class UnmatchedOptions {
  private readonly scopes: Set<string>;
  /** Group -> the preset that names it. */
  private readonly members = new Map<string, string>();

  constructor({ names, presets }: CheckedOptions) {
    this.scopes = new Set([...names.keys()].filter((scope) => !isNameOfKnownScope(scope)));
    for (const [preset, members] of presets) {
      for (const member of members) if (!isKnownGroup(member)) this.members.set(member, preset);
    }
  }

  /** A scope has come. An entry is matched by the scope of that very name, or by its group of that name. */
  see(scope: string, standard: string): void {
    this.scopes.delete(scope);
    this.scopes.delete(standard);
  }

  /**
   * The warnings to give now that more scopes are known.
   *
   * @param scopes by the default names of their groups
   * @param names the registered groups and presets
   */
  match(scopes: ReadonlyMap<string, string>, names: ReadonlySet<string>): Warning[] {
    const warnings: Warning[] = [];
    for (const scope of this.scopes) {
      const base = groupNameOfScope(scope);
      // Another scope has the same default name: `pg`, where `@acme/pg` is meant, which may still come.
      const nearest = scopes.has(base) ? undefined : nearestScope(base, scopes);
      if (nearest === undefined) continue;
      warnings.push(unmatched(`names['${scope}']`, scope, scopes.get(nearest)));
      this.scopes.delete(scope);
    }
    for (const [member, preset] of this.members) {
      const nearest = names.has(member) ? undefined : nearestName(member, names);
      if (nearest !== undefined) warnings.push(unmatched(`presets['${preset}']`, member, nearest));
      if (names.has(member) || nearest !== undefined) this.members.delete(member);
    }
    return warnings;
  }

  /**
   * The warnings to give at the end of telemetry.
   *
   * @param scopes by the default names of their groups
   */
  rest(scopes: ReadonlyMap<string, string>): Warning[] {
    return [
      ...[...this.scopes].map((scope) =>
        unmatched(`names['${scope}']`, scope, scopes.get(groupNameOfScope(scope))),
      ),
      ...[...this.members].map(([member, preset]) => unmatched(`presets['${preset}']`, member, undefined)),
    ];
  }
}

/** The known scope that was probably meant. It also finds `http` for somebody who wrote the group `http_server`. */
function nearestScope(base: string, scopes: ReadonlyMap<string, string>): string | undefined {
  const bare = withoutDirection(base);
  return scopes.has(bare) ? bare : nearestName(base, scopes.keys());
}

function unmatched(option: string, name: string, nearest: string | undefined): Warning {
  return { code: 'INSTRUMENTATION_OPTION_UNMATCHED', details: { option: pathOf(option), name, nearest } };
}
