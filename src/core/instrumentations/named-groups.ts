import { processState } from '../state/process-state.js';
import type { SpanGroupSpec } from '../state/spec-layers.js';

const ENDINGS = ['', '_server', '_client', '_consumer', '_producer'];

/**
 * Whether somebody has named a group of an unknown scope: in a spec, with or without `-`, or as a member of a preset. Patterns such
 * as `db_*` name no group.
 *
 * @param base the beginning of the names of the scope's groups
 * @param configured the configured spec, which may not be in force yet
 * @param presets those of the option, which may not be registered yet
 */
export function isNamed(
  base: string,
  configured: SpanGroupSpec,
  presets: ReadonlyMap<string, readonly string[]>,
): boolean {
  const groups = new Set(ENDINGS.map((ending) => base + ending));
  const isAnyOf = (names: readonly string[]): boolean => names.some((name) => groups.has(name));
  const { sourced, override, namespaces } = processState;
  const specs = [configured, processState.configured?.spec, sourced?.spec, override?.spec];
  if (specs.some((spec) => spec !== undefined && (isAnyOf(spec.included) || isAnyOf(spec.excluded)))) {
    return true;
  }
  const registered = [...namespaces.values()].flatMap((namespace) => Object.values(namespace.presets));
  return [...presets.values(), ...registered].some(isAnyOf);
}
