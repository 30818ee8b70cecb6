import { processState } from '../state/process-state.js';
import type { SpecLayer } from '../state/state-shape.js';
import { countWildcardMatches, parseSpanGroupSpec, pendingEntries } from './span-group-spec.js';

/** The spec that decides now: the override's while there is one, else the kept one. */
export function activeLayer(): SpecLayer | undefined {
  return processState.override ?? processState.kept;
}

/** A spec as it is put in force: what its wildcards match so far, nothing said about it. */
export function createLayer(raw: string): SpecLayer {
  const layer: SpecLayer = {
    spec: parseSpanGroupSpec(raw),
    wildcardMatches: new Map(),
    lastReport: undefined,
  };
  countWildcards(layer);
  return layer;
}

/** Counts again what its wildcards match: the registry has changed while the layer was not in force. */
export function countWildcards({ spec, wildcardMatches }: SpecLayer): void {
  for (const wildcard of [...spec.included.wildcards, ...spec.excluded.wildcards]) {
    wildcardMatches.set(wildcard, countWildcardMatches(wildcard, processState));
  }
}

/** Its entries for which nothing is registered. */
export function pendingOf({ spec, wildcardMatches }: SpecLayer): Set<string> {
  return pendingEntries(spec, processState, (wildcard) => wildcardMatches.get(wildcard) ?? 0);
}
