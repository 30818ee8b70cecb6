import { argumentError, checkOptions } from '../diagnostics/argument-error.js';
import { createError, SpanRegistryError } from '../diagnostics/errors.js';
import { emitWarnings, reportForeignState } from '../diagnostics/warnings.js';
import { processState } from '../state/process-state.js';
import { describeOrigin, differences } from './registration-origin.js';
import { registrationWarnings } from './registration-warnings.js';
import { activeLayer } from './active-layer.js';
import { indexRegistry } from './registry-index.js';
import { isSameRegistration, type ReadDefinition, readDefinition } from './span-group-definition.js';
import { ALL, parseSpanGroupSpec, type Resolution, resolveSpec, specProblem } from './span-group-spec.js';
import { resolveLayer } from './span-group-state.js';

/** Registers a definition that was read. Throws the errors of {@link SpanRegistryApi.register}. */
export function registerDefinition(definition: ReadDefinition): void {
  reportForeignState();
  const { namespace, groups, presets, allowOverride, origin } = definition;
  if (namespace === '') throw createError(SpanRegistryError, 'EMPTY_NAMESPACE');
  if (groups.includes('')) throw createError(SpanRegistryError, 'EMPTY_GROUP_NAME', { namespace });
  if (groups.includes(ALL))
    throw createError(SpanRegistryError, 'RESERVED_NAME', { namespace, kind: 'group' });
  const before = processState.namespaces.get(namespace);
  if (before !== undefined && !allowOverride) {
    throw createError(SpanRegistryError, 'NAMESPACE_REGISTERED', {
      namespace,
      first: describeOrigin(before.origin),
      now: describeOrigin(definition.origin),
      differences: differences(before, definition),
    });
  }
  if (Object.hasOwn(presets, ALL)) {
    throw createError(SpanRegistryError, 'RESERVED_NAME', { namespace, kind: 'preset' });
  }
  processState.namespaces.set(namespace, { groups, presets, origin });
  const index = indexRegistry();
  const resolution = resolveLayer(activeLayer(), index);
  // Warnings come last, because a logger may itself register.
  emitWarnings([...registrationWarnings(definition, index), ...resolution]);
}

/** Whether the same groups and presets are registered already, under the same namespace. */
export function isRegistered(definition: ReadDefinition): boolean {
  const known = processState.namespaces.get(definition.namespace);
  return known !== undefined && isSameRegistration(known, definition);
}

function register(
  namespace: string,
  groups: Iterable<string>,
  presets: Readonly<Record<string, Iterable<string>>> = {},
  options: { allowOverride?: boolean } = {},
): void {
  checkOptions('SpanRegistry.register: options', options);
  const { allowOverride = false } = options;
  const given = { namespace, groups, presets, allowOverride };
  registerDefinition(readDefinition(given, 'SpanRegistry.register', register));
}

function unregister(namespace: string): void {
  if (typeof namespace !== 'string') {
    throw argumentError('SpanRegistry.unregister: namespace', 'a string', namespace);
  }
  if (!processState.namespaces.delete(namespace)) {
    throw createError(SpanRegistryError, 'NAMESPACE_NOT_REGISTERED', { namespace, namespaces: namespaces() });
  }
  emitWarnings(resolveLayer());
}

function clear(): void {
  processState.namespaces.clear();
  emitWarnings(resolveLayer());
}

function groups(): ReadonlySet<string> {
  return indexRegistry().groups;
}

function namespaces(): readonly string[] {
  return [...processState.namespaces.keys()].sort();
}

function presets(): ReadonlyMap<string, ReadonlySet<string>> {
  const { groups, presets } = indexRegistry();
  const live = new Map<string, ReadonlySet<string>>([[ALL, groups]]);
  for (const [preset, members] of presets) {
    live.set(preset, new Set([...members].filter((member) => groups.has(member))));
  }
  return live;
}

function resolve(spec: string): Resolution {
  return resolveSpec(parseSpanGroupSpec(specProblem(spec) === undefined ? spec : ''), indexRegistry());
}

/** The calls of {@link SpanRegistry}. */
export interface SpanRegistryApi {
  /**
   * Declares the span groups that a library or application can emit. Names are trimmed and lower-cased. Two namespaces with
   * the same group share it: one gate for both. A preset may name any group; members that are not registered are ignored
   * until they are. The configured spec is re-resolved before the call returns; then warnings are logged.
   *
   * @param namespace the owner, taken as it is; the key for `unregister`
   * @param groups every group name, from any iterable; lowercase snake_case
   * @param presets named subsets; presets of one name are united over all namespaces. Default: none
   * @param options `allowOverride` (default false): replace what the namespace registered before, and don't warn about
   * groups that another namespace has too
   * @throws SpanRegistryError `EMPTY_NAMESPACE`, `EMPTY_GROUP_NAME`, `RESERVED_NAME` (`all`), `NAMESPACE_REGISTERED`
   * @throws TypeError for arguments of a wrong type. Nothing has changed when it throws
   *
   * @example
   * SpanRegistry.register('shop', ['orders', 'payment'], { default: ['orders'] });
   */
  register(
    namespace: string,
    groups: Iterable<string>,
    presets?: Readonly<Record<string, Iterable<string>>>,
    options?: { allowOverride?: boolean },
  ): void;
  /**
   * Removes a namespace's groups and presets. A shared group stays until its last owner unregisters.
   *
   * @throws SpanRegistryError `NAMESPACE_NOT_REGISTERED`
   * @throws TypeError for a namespace that is not a string
   */
  unregister(namespace: string): void;
  /** Removes every namespace, so no group is on until something registers again. For tests. */
  clear(): void;
  /** Every registered group, as a new set. */
  groups(): ReadonlySet<string>;
  /** Every namespace, sorted, as a new array. */
  namespaces(): readonly string[];
  /** Every preset with its registered members, `all` included, as a new map. */
  presets(): ReadonlyMap<string, ReadonlySet<string>>;
  /**
   * What a spec would turn on, and which of its entries match nothing. It changes nothing and never throws. A value that
   * can't be a spec (see {@link setSpanGroupSpec}) turns nothing on.
   *
   * @param spec as in `NEST_LENS_SPAN_GROUPS`
   *
   * @example
   * SpanRegistry.resolve('default,per_requset'); // { enabled: Set { 'orders' }, pending: Set { 'per_requset' } }
   */
  resolve(spec: string): { enabled: ReadonlySet<string>; pending: ReadonlySet<string> };
}

/**
 * The span groups and presets that exist in this process. All copies of the package share them. It is empty at first, because
 * NestLens has no groups of its own.
 *
 * @example
 * SpanRegistry.register('shop', ['orders', 'payment'], { default: ['orders'] });
 * SpanRegistry.resolve('default'); // { enabled: Set { 'orders' }, pending: Set {} }
 */
export const SpanRegistry: SpanRegistryApi = Object.freeze({
  register,
  unregister,
  clear,
  groups,
  namespaces,
  presets,
  resolve,
});
