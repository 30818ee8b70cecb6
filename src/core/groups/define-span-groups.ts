import { checkText } from '../diagnostics/argument-error.js';
import { processState } from '../state/process-state.js';
import { isFromSameFolder } from './registration-origin.js';
import { type ReadDefinition, readDefinition } from './span-group-definition.js';
import { normaliseName } from './span-group-spec.js';
import { isRegistered, registerDefinition } from './span-registry.js';

/** The name under which a group is registered: in lower case, without blanks around it. */
export type RegisteredName<N extends string> = N extends ` ${infer Rest}` | `${infer Rest} `
  ? RegisteredName<Rest>
  : Lowercase<N>;

/** What {@link defineSpanGroups} returns: a definition whose group names the compiler knows. */
export interface DefinedSpanGroups<G extends string> {
  /** The owner's name, as given. */
  readonly namespace: string;
  /** Every group, as given; `group()` returns the names as they are registered. */
  readonly groups: readonly G[];
  /** Named subsets; empty if none were given. */
  readonly presets: Record<string, readonly string[]>;
  /** Whether {@link DefinedSpanGroups.register} replaces what the namespace registered before. */
  readonly allowOverride: boolean;
  /**
   * Registers the definition, and throws what `SpanRegistry.register` throws. It does nothing if the same groups and presets
   * are registered already, because a module may be evaluated twice: in two formats, or by a test runner. After the set-up,
   * other content replaces the module's earlier registration, so that a hot reload works.
   */
  register(): void;
  /** The registered name of one of its groups, for `managedSpan` and the other sites; checked by the compiler. */
  group<N extends G>(name: N): RegisteredName<N>;
}

/**
 * Defines span groups so that a misspelt name is a compile error: in the presets, and wherever `group()` names one.
 *
 * @param definition `groups` as a literal array. Preset members must be among them, or among the groups of the definitions in
 * `using`, such as those of a library that yours builds on
 * @throws TypeError for something of a wrong type
 * @returns the definition; pass it to `NestLensModule.forRoot` or `forFeature`, or call `register()`
 *
 * @example
 * export const shop = defineSpanGroups({
 *   namespace: 'shop',
 *   groups: ['orders', 'payment'],
 *   presets: { default: ['orders'] },
 * });
 * managedSpan(shop.group('orders'), 'orders.place', () => place());
 */
export function defineSpanGroups<const G extends string, const U extends string = never>(definition: {
  namespace: string;
  groups: readonly G[];
  presets?: Readonly<Record<string, readonly NoInfer<G | U>[]>>;
  allowOverride?: boolean;
  using?: readonly { readonly groups: readonly U[] }[];
}): DefinedSpanGroups<G> {
  const read = readDefinition(definition, 'defineSpanGroups', defineSpanGroups);
  const { namespace, groups, presets = {} } = definition;
  return {
    namespace,
    groups,
    presets,
    allowOverride: read.allowOverride,
    register() {
      if (isRegistered(read)) return;
      registerDefinition(isReload(read) ? { ...read, allowOverride: true, isReload: true } : read);
    },
    group<N extends G>(name: N) {
      checkText('group(): name', name);
      return normaliseName(name) as RegisteredName<N>;
    },
  };
}

/**
 * Whether a module registered when it was first imported, was changed, and is now evaluated again. Nothing shows yet that the
 * old application is closing: bundlers evaluate the new code in the same turn in which they tell the old code to close.
 */
function isReload({ namespace, origin }: ReadDefinition): boolean {
  const { namespaces, setUp, applications } = processState;
  const known = namespaces.get(namespace);
  const isRunning = setUp || [...applications].some(({ isSetUp, isClosing }) => isSetUp || isClosing);
  return known !== undefined && isRunning && isFromSameFolder(known.origin, origin);
}
