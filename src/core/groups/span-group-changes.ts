import { logChange } from '../diagnostics/change-log.js';
import { processState } from '../state/process-state.js';
import { activeLayer } from './active-layer.js';
import { overrideEnd } from './override-end.js';

const MAX_CHANGES = 50;
/**
 * The record keeps this many characters of a spec, as many as the endpoint accepts. A spec that code sets may be a hundred
 * times as long.
 */
const MAX_SPEC = 1_000;

/** The author of a change that no request asked for. The parentheses keep it apart from names of people. */
export const BY_CODE = '(code)';
export const BY_EXPIRY = '(expired)';

/**
 * Notes the spec in force before a change.
 *
 * @param by who makes the change; null for a request by an unknown person
 * @returns a function that records and logs the change, if the spec did change; call it when the change is complete, before
 * any warning about it
 */
export function beginChange(by: string | null): () => void {
  const before = inForce();
  return () => {
    const after = inForce();
    // The spec that a set-up begins with is no change: it is the configuration.
    if (!processState.setUp && !before.isOverride && !after.isOverride) return;
    if (before.spec === after.spec && before.until === after.until) return;
    const { changes } = processState;
    if (changes.length >= MAX_CHANGES) changes.shift();
    const at = new Date().toISOString();
    const change = { at, before: cut(before.spec), after: cut(after.spec), until: after.until, by };
    changes.push(change);
    logChange(change);
  };
}

function inForce(): { spec: string; until: string | null; isOverride: boolean } {
  const { pinned, enabled, override } = processState;
  return {
    spec: pinned ? [...enabled].sort().join(',') : (activeLayer()?.spec.raw ?? ''),
    until: (override && overrideEnd(override)?.toISOString()) ?? null,
    isOverride: override !== undefined,
  };
}

function cut(spec: string): string {
  return spec.length > MAX_SPEC ? `${spec.slice(0, MAX_SPEC)}… (${spec.length} characters)` : spec;
}
