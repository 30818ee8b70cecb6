import { GROUP_ATTRIBUTE } from '../spans/site-attributes.js';
import { processState } from '../state/process-state.js';
import type { KeptSpan } from '../state/recent-traces-state.js';
import { directionOfKind, FIELD_ENDING, isFieldSpan } from './direction-of-kind.js';
import { readScope } from './read-scope.js';

/** The group of an ended span: for a site from its attribute, for an instrumentation from its scope. */
export function groupOfSpan({ name, attributes, kind, instrumentationScope }: KeptSpan): string | undefined {
  const group = attributes[GROUP_ATTRIBUTE];
  if (typeof group === 'string') return group;
  const { name: scopeName } = readScope(instrumentationScope);
  const groups = [...processState.instrumentationScopes]
    .filter(([, scopes]) => scopes.some((scope) => scope.name === scopeName))
    .map(([found]) => found);
  if (groups.length <= 1) return groups[0];
  const endings = groups.map((found) => found.slice(found.lastIndexOf('_') + 1));
  const ending = isFieldSpan(name) ? FIELD_ENDING : directionOfKind(kind, endings);
  // GraphQL's spans that aren't for a field are in the first group, which has no ending.
  return groups[Math.max(0, endings.indexOf(ending ?? ''))];
}
