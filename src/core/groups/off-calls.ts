import { emitWarnings } from '../diagnostics/warnings.js';
import { processState } from '../state/process-state.js';
import { countMissedCall } from './missed-calls.js';
import { nearestName } from './nearest-name.js';
import { indexRegistry } from './registry-index.js';
import { normaliseName } from './span-group-spec.js';

/** So many calls are looked at after a set-up, about 20 ns each: 2 ms in all. From then on an off call costs what it always did. */
const MAX_NOTED = 100_000;
/** So many names are judged, and so many are said to be unknown: they may be made up at run time. */
const MAX_JUDGED = 1_000;
const MAX_SAID = 100;

/** Begins to look at calls that name their group each time, while it is off. */
export function noteOffCalls(): void {
  processState.offCallsNoted = 0;
  processState.judgedNames.clear();
  processState.areOffCallsNoted = true;
}

/** Ends it, unless such calls are still counted because they come before the set-up. */
export function ignoreOffCalls(): void {
  processState.areOffCallsNoted = processState.missedCalls !== undefined;
}

/**
 * Looks at a call whose group is off, while `processState.areOffCallsNoted`: before the set-up it is counted as missed, and after it
 * one warning a name says that nobody has registered it.
 *
 * @param api the function that was called
 * @param span the name of the span that it would have made, if any
 */
export function noteOffCall(api: string, group: string, span: string | undefined): void {
  if (processState.missedCalls !== undefined) {
    if (typeof span === 'string') countMissedCall(span, group);
    return;
  }
  const { setUp, pinned, registeredInBoot, judgedNames } = processState;
  // Whoever pins names needs no registration; and while an application boots there may be more to come.
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
