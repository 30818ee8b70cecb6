import { emitOnce } from '../diagnostics/emit-once.js';
import { nearestName } from '../groups/nearest-name.js';
import { isFromNemo, type NestLensConfig, originOf } from './config.js';

/** What of a spec means something to NestLens only: wildcards, and exclusions. */
const ONLY_HERE = /\*|(^|,)\s*-/;

/** Says that a shared spec selects other groups in the deployment's Python processes. */
export function warnOfSharedSpec(config: NestLensConfig): void {
  if (!isFromNemo(config, 'spanGroups') || !ONLY_HERE.test(config.spanGroups)) return;
  const variable = originOf(config, 'spanGroups');
  emitOnce(variable, { code: 'SPEC_NOT_SHARED', details: { variable, spec: config.spanGroups } });
}

/** What the name of a variable that says what is to emit ends with. */
const SPEC_VARIABLE = /_SPAN_GROUPS(_FILE)?$/;

/** Says that a spec was set, and telemetry wasn't enabled: by no variable, and not in code. */
export function warnOfSpecWithoutEnabled(config: NestLensConfig): void {
  if (config.enabled || config.origins?.enabled?.source !== 'default') return;
  const variable = [originOf(config, 'spanGroups'), originOf(config, 'spanGroupsFile')].find((source) =>
    SPEC_VARIABLE.test(source),
  );
  if (variable === undefined) return;
  const enabledVariable = variable.replace(SPEC_VARIABLE, '_ENABLED');
  emitOnce(variable, { code: 'SPEC_WITHOUT_ENABLED', details: { variable, enabledVariable } });
}

/** How variables are compared that somebody has misspelt: case, underscores and a plural don't tell names apart. */
function looseName(variable: string): string {
  return variable.toLowerCase().replaceAll('_', '').replace(/s$/, '');
}

/**
 * Says of each variable that is nearly one of ours, and so has no effect. One that begins with the prefix and is near none of
 * them may be somebody else's.
 *
 * @param isShared whether others have variables of this prefix, which may be near ours: then only another way of writing one counts
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
    if (names.has(variable) || !looseName(variable).startsWith(start)) continue;
    if (String(env[variable] ?? '').trim() === '') continue;
    const loose = looseName(variable);
    const near = known.has(loose) ? loose : isShared ? undefined : nearestName(loose, known.keys());
    if (near === undefined) continue;
    emitOnce(variable, { code: 'VARIABLE_UNKNOWN', details: { variable, nearest: known.get(near)! } });
  }
}
