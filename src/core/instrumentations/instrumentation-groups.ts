import { emitWarnings } from '../diagnostics/warnings.js';
import { OF_INSTRUMENTATIONS } from '../groups/registration-origin.js';
import { indexRegistry } from '../groups/registry-index.js';
import { registerFoundGroups } from '../groups/register-found-groups.js';
import { SCOPE_NAME } from '../spans/lens-tracer.js';
import { processState } from '../state/process-state.js';
import type { InstrumentationScope } from '../state/state-shape.js';
import type { SpanGroupSpec } from '../state/spec-layers.js';
import type { CheckedOptions } from './checked-options.js';
import { chosenName } from './chosen-name.js';
import { isKnownScope, knownRole } from './known-scopes.js';
import { isNamed } from './named-groups.js';
import { ScopeFamily, STANDARD_PRESETS } from './scope-family.js';
import { groupNameOfScope } from './scope-group-name.js';
import { UnmatchedOptions } from './unmatched-options.js';

/** The namespace of the groups of instrumentations in the registry. The second is for an application that has taken the first. */
const NAMESPACES = ['instrumentation', 'instrumentation_groups'];

/**
 * The most scopes that nobody knows or has named, because a library that makes a scope for each request must not fill the
 * registry. Later ones share one group.
 */
const MAX_UNKNOWN = 200;
const FAMILY_OF_THE_REST = 'other_scopes';

/** The groups of the instrumentations of this process, as far as their scopes are known. */
export class InstrumentationGroups {
  private readonly families = new Map<string, ScopeFamily>();
  /** The default names of groups whose scopes nobody knows or has named. */
  private readonly unknown = new Set<string>();
  /** The group's default name -> the scope. */
  private readonly scopes = new Map<string, string>();
  private readonly unmatched: UnmatchedOptions;
  private readonly namespace =
    NAMESPACES.find((name) => !processState.namespaces.has(name)) ?? NAMESPACES.at(-1)!;

  /** Whether scopes have come since the groups were registered. */
  private isChanged = false;

  /** @param spec the configured spec, which isn't in force yet when the known scopes are added */
  constructor(
    private readonly options: CheckedOptions,
    private readonly spec: SpanGroupSpec,
  ) {
    this.unmatched = new UnmatchedOptions(options);
  }

  /**
   * Adds the scopes that are known before their first span. Those beyond the limit wait for that span, because the spec that is in
   * force by then may name them.
   */
  addKnown(scopes: Iterable<InstrumentationScope>): void {
    for (const scope of scopes) {
      if (scope.name === SCOPE_NAME) continue;
      const base = this.baseOf(scope);
      if (base !== FAMILY_OF_THE_REST) this.add(scope, base);
    }
    this.register();
  }

  /** The family of the scope of a span; undefined if the scope is left alone. */
  familyOf(scope: InstrumentationScope): ScopeFamily | undefined {
    if (scope.name === SCOPE_NAME) return undefined;
    const family = this.add(scope, this.baseOf(scope));
    // Measured: to register 40 groups takes 250 us.
    if (this.isChanged) this.register();
    return family;
  }

  /** Removes all groups from the registry. The spec is gone by then. */
  release(): void {
    processState.namespaces.delete(this.namespace);
    processState.instrumentationScopes.clear();
    emitWarnings(this.unmatched.rest(this.scopes));
  }

  private add(scope: InstrumentationScope, base: string | false): ScopeFamily | undefined {
    const standard = groupNameOfScope(scope.name);
    this.unmatched.see(scope.name, standard);
    if (base !== FAMILY_OF_THE_REST && !this.scopes.has(standard)) {
      this.scopes.set(standard, scope.name);
      this.isChanged = true;
    }
    if (base === false) return undefined;
    const family = this.family(base);
    if (family.addScope(scope, knownRole(standard))) this.isChanged = true;
    return family;
  }

  /** The beginning of the names of a scope's groups; false if the scope is left alone. */
  private baseOf({ name }: InstrumentationScope): string | false {
    const standard = groupNameOfScope(name);
    const chosen = chosenName(this.options, name, standard);
    if (chosen !== undefined) return chosen;
    if (this.families.has(standard) || this.unknown.has(standard) || isKnownScope(standard)) return standard;
    if (isNamed(standard, this.spec, this.options.presets)) return standard;
    if (this.unknown.size >= MAX_UNKNOWN) return FAMILY_OF_THE_REST;
    this.unknown.add(standard);
    return standard;
  }

  private family(base: string): ScopeFamily {
    const known = this.families.get(base);
    if (known !== undefined) return known;
    const family = new ScopeFamily(
      base,
      () => this.register(),
      () => this.scopes.has('http'),
    );
    this.families.set(base, family);
    return family;
  }

  private register(): void {
    this.isChanged = false;
    const groups = new Set<string>();
    const presets = new Map<string, Set<string>>(STANDARD_PRESETS.map((preset) => [preset, new Set()]));
    const { instrumentationScopes } = processState;
    instrumentationScopes.clear();
    for (const family of this.families.values()) {
      for (const group of family.groups()) {
        groups.add(group.name);
        const others = instrumentationScopes.get(group.name) ?? [];
        instrumentationScopes.set(group.name, [...others, ...family.scopes]);
        for (const preset of group.presets) {
          let members = presets.get(preset);
          if (members === undefined) presets.set(preset, (members = new Set()));
          members.add(group.name);
          // An application may have a group of its own called `http`: the preset must not take that away from a spec.
          if (preset === family.base) members.add(preset);
        }
      }
    }
    registerFoundGroups(this.namespace, {
      origin: { api: OF_INSTRUMENTATIONS },
      groups: [...groups].sort(),
      presets: Object.fromEntries(
        [...presets, ...this.replacedPresets(presets)].map(([preset, members]) => [
          preset,
          [...new Set(members)].sort(),
        ]),
      ),
    });
    const index = indexRegistry();
    emitWarnings(this.unmatched.match(this.scopes, new Set([...index.groups, ...index.presets.keys()])));
  }

  /** The application's own presets. A member with the name of a scope, such as `http`, stands for all of its groups. */
  private replacedPresets(standard: ReadonlyMap<string, ReadonlySet<string>>): [string, string[]][] {
    return [...this.options.presets].map(([preset, members]) => [
      preset,
      members.flatMap((member) => [...(standard.get(member) ?? [member])]),
    ]);
  }
}
