import { type Context, context as contexts } from '@opentelemetry/api';
import { processState } from '../state/process-state.js';
import type { RunningPreview } from '../state/state-shape.js';
import { countMissedCall } from './missed-call-count.js';
import { optedInGroups } from './opted-in-groups.js';

/**
 * Decides whether a call behind an open gate gets a span. Sites call it as `processState.isAdmitted`, which is set only while
 * gates may be open for another reason than the spec. It also counts the calls for a preview and for a boot.
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
  if (preview !== undefined && site !== undefined) countPreviewed(preview.counts, group, site);
  if (enabled.has(group)) return true;
  return optedInGroups(context ?? contexts.active())?.has(group) === true;
}

/** A preview counts at most this many sites per group, because code can make up site names at run time. */
const MAX_SITES = 200;
const OTHER_SITES = '(other sites)';

function countPreviewed(counts: RunningPreview['counts'], group: string, site: string): void {
  const sites = counts.get(group);
  if (sites === undefined) return;
  const name = sites.has(site) || sites.size < MAX_SITES ? site : OTHER_SITES;
  sites.set(name, (sites.get(name) ?? 0) + 1);
}
