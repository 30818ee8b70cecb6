import { emitWarnings } from '../diagnostics/warnings.js';
import { processState } from '../state/process-state.js';
import { countMissedCall } from './missed-call-count.js';
import { nearestName } from './nearest-name.js';
import { indexRegistry } from './registry-index.js';
import { normaliseName } from './span-group-spec.js';

/**
 * Looks at this many calls after a set-up. Each costs about 20 ns, so 2 ms in all; later off calls cost what they always
 * cost.
 */
const MAX_NOTED = 100_000;
/** Judges at most this many names, and warns about at most a hundred, because code can make up names at run time. */
const MAX_JUDGED = 1_000;
const MAX_SAID = 100;

/** Begins to look at off calls after a set-up, anew for each set-up. */
export function judgeOffCalls(): void {
  processState.offCallsNoted = 0;
  processState.judgedNames.clear();
  lookAtOffCalls();
}

/** Sites call `noteOffCall` from now on. */
export function lookAtOffCalls(): void {
  processState.noteOffCall = noteOffCall;
}

/** Stops looking, unless an application still counts its calls before the set-up. */
export function ignoreOffCalls(): void {
  if (processState.missedCalls === undefined) processState.noteOffCall = undefined;
}

/**
 * Looks at a call whose group is off. Before the set-up it counts the call as missed. After the set-up it warns once about
 * each name that is not registered.
 *
 * @param api the function that was called
 * @param span the name of the span that it would have made, if any
 */
function noteOffCall(api: string, group: string, span: string | undefined): void {
  if (processState.missedCalls !== undefined) {
    if (typeof span === 'string') countMissedCall(span, group);
    return;
  }
  const { setUp, pinned, registeredInBoot, judgedNames } = processState;
  // A pinned group needs no registration, and more groups may be registered while an application boots.
  if (!setUp || pinned || registeredInBoot !== undefined) return;
  processState.offCallsNoted++;
  if (processState.offCallsNoted >= MAX_NOTED) ignoreOffCalls();
  if (judgedNames.has(group) || judgedNames.size >= MAX_JUDGED || typeof group !== 'string') return;
  const { groups } = indexRegistry();
  judgedNames.set(group, groups.has(group));
  if (groups.has(group) || unknownNames() > MAX_SAID) return;
  const site = span === undefined ? api : `${api} '${String(span)}'`;
  const normalised = normaliseName(group);
  const nearest = groups.has(normalised) ? normalised : nearestName(normalised, groups);
  emitWarnings([{ code: 'UNKNOWN_GROUP_AT_SITE', details: { site, group, nearest } }]);
}

function unknownNames(): number {
  return [...processState.judgedNames.values()].filter((isKnown) => !isKnown).length;
}
