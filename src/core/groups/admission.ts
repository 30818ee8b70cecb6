import { type Context, context as contexts } from '@opentelemetry/api';
import { processState } from '../state/process-state.js';
import { countMissedCall } from './missed-call-count.js';
import { optedInGroups } from './opted-in-groups.js';

/**
 * Decides whether a call behind an open gate gets a span. Sites ask only while `processState.isAdmissionAsked`: a gate may
 * then be open for another reason than the spec. Calls that a preview or a boot counts are counted here.
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

/** A preview counts at most this many sites per group, because code can make up site names at run time. */
const MAX_SITES = 200;
const OTHER_SITES = '(other sites)';

function countPreviewed(preview: Map<string, Map<string, number>>, group: string, site: string): void {
  const sites = preview.get(group);
  if (sites === undefined) return;
  const name = sites.has(site) || sites.size < MAX_SITES ? site : OTHER_SITES;
  sites.set(name, (sites.get(name) ?? 0) + 1);
}
