import { emitOnce } from '../diagnostics/emit-once.js';
import { nearestName } from '../groups/nearest-name.js';
import { isFromNemo, type NestLensConfig, originOf } from './config.js';

/** The parts of a spec that only NestLens understands: wildcards and exclusions. */
const ONLY_HERE = /\*|(^|,)\s*-/;

/** Warns that a shared spec selects other groups in the deployment's Python processes. */
export function warnOfSharedSpec(config: NestLensConfig): void {
  if (!isFromNemo(config, 'spanGroups') || !ONLY_HERE.test(config.spanGroups)) return;
  const variable = originOf(config, 'spanGroups');
  emitOnce(variable, { code: 'SPEC_NOT_SHARED', details: { variable, spec: config.spanGroups } });
}

/** The endings of variables that hold a spec. */
const SPEC_VARIABLE = /_SPAN_GROUPS(_FILE)?$/;

/** Warns that a spec was set but telemetry is not enabled, by a variable or in code. */
export function warnOfSpecWithoutEnabled(config: NestLensConfig): void {
  if (config.enabled || config.origins?.enabled?.source !== 'default') return;
  const variable = [originOf(config, 'spanGroups'), originOf(config, 'spanGroupsFile')].find((source) =>
    SPEC_VARIABLE.test(source),
  );
  if (variable === undefined) return;
  const enabledVariable = variable.replace(SPEC_VARIABLE, '_ENABLED');
  emitOnce(variable, { code: 'SPEC_WITHOUT_ENABLED', details: { variable, enabledVariable } });
}

/** The form in which misspelt variables are compared: without case, underscores and a plural. */
function looseName(variable: string): string {
  return variable.toLowerCase().replaceAll('_', '').replace(/s$/, '');
}

/**
 * Warns about each variable that is nearly one of ours, and so has no effect. A variable with the prefix that is near none of
 * ours may belong to another program.
 *
 * @param isShared whether other programs use this prefix, so that near names may be theirs; then only another spelling of the
 * same name counts
 */
export function warnOfMisspeltVariables(
  prefix: string,
  keys: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  isShared = false,
): void {
  const known = new Map(keys.map((key) => [looseName(`${prefix}_${key}`), `${prefix}_${key}`]));
  const names = new Set(known.values());
  const start = looseName(prefix);
  for (const variable of Object.keys(env)) {
    const loose = looseName(variable);
    if (names.has(variable) || !loose.startsWith(start)) continue;
    if (String(env[variable] ?? '').trim() === '') continue;
    const near = known.has(loose) ? loose : isShared ? undefined : nearestName(loose, known.keys());
    if (near === undefined) continue;
    emitOnce(variable, { code: 'VARIABLE_UNKNOWN', details: { variable, nearest: known.get(near)! } });
  }
}
