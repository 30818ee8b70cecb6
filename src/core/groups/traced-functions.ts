import { emitWarnings, type Warning } from '../diagnostics/warnings.js';
import { processState } from '../state/process-state.js';
import { nearestName } from './nearest-name.js';
import { indexRegistry } from './registry-index.js';

/** Groups of which a traced function is remembered. */
const MAX_GROUPS = 1_000;

/**
 * Remembers the first function that is traced in a group, so that a group that nobody registers can be said with it. This is when
 * a function is wrapped; nothing is asked when it is called.
 */
export function noteTracedFunction(group: string, span: unknown): void {
  const { tracedFunctions } = processState;
  if (tracedFunctions.has(group) || tracedFunctions.size >= MAX_GROUPS) return;
  tracedFunctions.set(group, { span: typeof span === 'string' ? span : typeof span, isJudged: false });
  // A module that is loaded late may register in its next line.
  if (processState.setUp) queueMicrotask(judgeTracedFunctions);
}

/**
 * Says, once for each group, that a traced function is in one that nobody has registered. Everybody has registered when telemetry
 * is set up and no application boots; before that it does nothing.
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
