import { emitWarnings, type Warning } from '../diagnostics/warnings.js';
import { processState } from '../state/process-state.js';
import { nearestName } from './nearest-name.js';
import { indexRegistry } from './registry-index.js';

/** The number of groups for which a traced function is remembered. */
const MAX_GROUPS = 1_000;

/**
 * Remembers the first function that is traced in a group, for the warning about a group that nobody has registered. It runs when
 * a function is wrapped, not when it is called.
 */
export function noteTracedFunction(group: string, span: unknown): void {
  const { tracedFunctions } = processState;
  if (tracedFunctions.has(group) || tracedFunctions.size >= MAX_GROUPS) return;
  tracedFunctions.set(group, { span: typeof span === 'string' ? span : typeof span, isJudged: false });
  // Not at once: the module that wraps the function may register the group in its next line.
  if (processState.setUp) queueMicrotask(judgeTracedFunctions);
}

/**
 * Warns about traced functions whose group nobody has registered, once for each group. It does nothing before telemetry is set up,
 * and while an application boots: there may be more to come.
 */
export function judgeTracedFunctions(): void {
  if (!processState.setUp || processState.registeredInBoot !== undefined) return;
  const { groups } = indexRegistry();
  const warnings: Warning[] = [];
  for (const [group, traced] of processState.tracedFunctions) {
    if (traced.isJudged) continue;
    traced.isJudged = true;
    if (groups.has(group)) continue;
    const details = { site: `traceFn '${traced.span}'`, group, nearest: nearestName(group, groups) };
    warnings.push({ code: 'UNKNOWN_GROUP_AT_SITE', details });
  }
  emitWarnings(warnings);
}
