import { logChange } from '../diagnostics/change-log.js';
import { processState } from '../state/process-state.js';
import { activeLayer } from './active-layer.js';
import { overrideEnd } from './override-end.js';

const MAX_CHANGES = 50;
/** The length of a spec in the record, in characters: what the endpoint takes. Code may give a hundred times that. */
const MAX_SPEC = 1_000;

/** Who has made a change that no request asked for. In parentheses, so that it is never taken for a person. */
export const BY_CODE = '(code)';
export const BY_EXPIRY = '(expired)';

/**
 * Notes what is in force before a change.
 *
 * @param by who makes it; null: a request of which nobody knows whose it was
 * @returns to be called when the change is complete, and before anything is said about it: records and logs it, if it is one
 */
export function beginChange(by: string | null): () => void {
  const before = inForce();
  return () => {
    const after = inForce();
    if (before.spec === after.spec && before.until === after.until) return;
    const { changes } = processState;
    if (changes.length >= MAX_CHANGES) changes.shift();
    const at = new Date().toISOString();
    const change = { at, before: cut(before.spec), after: cut(after.spec), until: after.until, by };
    changes.push(change);
    logChange(change);
  };
}

function inForce(): { spec: string; until: string | null } {
  const { pinned, enabled, override } = processState;
  return {
    spec: pinned ? [...enabled].sort().join(',') : (activeLayer()?.spec.raw ?? ''),
    until: (override && overrideEnd(override)?.toISOString()) ?? null,
  };
}

function cut(spec: string): string {
  return spec.length > MAX_SPEC ? `${spec.slice(0, MAX_SPEC)}… (${spec.length} characters)` : spec;
}
