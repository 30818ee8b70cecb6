import { emitWarnings } from '../diagnostics/warnings.js';
import { nearestName } from '../groups/nearest-name.js';
import { indexRegistry, inventoryOf } from '../groups/registry-index.js';
import { resolveSpec } from '../groups/span-group-spec.js';
import { processState } from '../state/process-state.js';

/** Warns about entries of `requestOptIn.allow` that match nothing. It is called when every module has registered. */
export function judgeAllowedGroups(): void {
  const { requestOptIn } = processState;
  if (requestOptIn === undefined) return;
  const index = indexRegistry();
  const pending = [...resolveSpec(requestOptIn.allow, index).pending].sort();
  // Each application that shares the set-up calls this.
  const said = `allow ${pending.join()}`;
  if (pending.length === 0 || requestOptIn.saidAt.has(said)) return;
  requestOptIn.saidAt.set(said, performance.now());
  const { groups, presets } = inventoryOf(index);
  const nearest = Object.create(null) as Record<string, string>;
  for (const entry of pending) {
    const found = nearestName(entry.replace(/^-/, ''), [...groups, ...presets]);
    if (found !== undefined) nearest[entry] = entry.startsWith('-') ? `-${found}` : found;
  }
  emitWarnings([{ code: 'REQUEST_OPT_IN_ALLOW', details: { pending, nearest } }]);
}
