import { type Context, context as contexts } from '@opentelemetry/api';
import { processState } from '../state/process-state.js';
import { countMissedCall } from './missed-calls.js';
import { optedInGroups } from './opted-in-groups.js';

/**
 * Whether a call whose gate is open gets a span. To be asked behind the gate, while `processState.isAdmissionAsked`: then gates
 * can be open for another reason than the spec, and what is counted is counted here.
 *
 * @param group as it is registered
 * @param site what the call is counted as; undefined: it isn't counted
 * @param context in which the call is made
 */
export function isAdmitted(group: string, site: string | undefined, context?: Context): boolean {
  const { enabled, preview, missedCalls } = processState;
  if (missedCalls !== undefined) {
    if (site !== undefined) countMissedCall(site, group);
    return false;
  }
  if (preview !== undefined && site !== undefined) countPreviewed(preview, group, site);
  if (enabled.has(group)) return true;
  return optedInGroups(context ?? contexts.active())?.has(group) === true;
}

/** The number of sites that a preview tells apart in each group. Names of sites can be made up at run time. */
const MAX_SITES = 200;
const OTHER_SITES = '(other sites)';

function countPreviewed(preview: Map<string, Map<string, number>>, group: string, site: string): void {
  const sites = preview.get(group);
  if (sites === undefined) return;
  const name = sites.has(site) || sites.size < MAX_SITES ? site : OTHER_SITES;
  sites.set(name, (sites.get(name) ?? 0) + 1);
}
