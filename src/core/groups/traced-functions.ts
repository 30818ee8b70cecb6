import { emitWarnings, type Warning } from '../diagnostics/warnings.js';
import { processState } from '../state/process-state.js';
import { nearestName } from './nearest-name.js';
import { indexRegistry } from './registry-index.js';

/** Traced functions are remembered for at most this many groups. */
const MAX_GROUPS = 1_000;

/**
 * Remembers the first function that is traced in a group, for the warning about a group that is not registered. It runs when
 * a function is wrapped, not when it is called.
 */
export function noteTracedFunction(group: string, span: unknown): void {
  const { tracedFunctions } = processState;
  if (tracedFunctions.has(group) || tracedFunctions.size >= MAX_GROUPS) return;
  tracedFunctions.set(group, { span: typeof span === 'string' ? span : typeof span, isJudged: false });
  // It waits a microtask: the module that wraps the function may register the group in its next line.
  if (processState.setUp) queueMicrotask(judgeTracedFunctions);
}

/**
 * Warns once about each traced group that is not registered. It does nothing before the set-up, and while an application
 * boots, because more groups may be registered.
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
