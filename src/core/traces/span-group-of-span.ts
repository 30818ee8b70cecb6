import { SpanKind } from '@opentelemetry/api';
import { GROUP_ATTRIBUTE } from '../spans/site-attributes.js';
import { processState } from '../state/process-state.js';
import type { KeptSpan } from '../state/recent-traces.js';

/** The endings of group names that stand for one direction, by the kind of the span. */
const DIRECTIONS: Readonly<Record<number, RegExp>> = {
  [SpanKind.SERVER]: /_(server|consumer)$/,
  [SpanKind.CONSUMER]: /_(consumer|server)$/,
  [SpanKind.CLIENT]: /_(client|producer)$/,
  [SpanKind.PRODUCER]: /_(producer|client)$/,
};

/** The group of an ended span: for a site from its attribute, for an instrumentation from its scope. */
export function groupOfSpan({ attributes, kind, instrumentationScope }: KeptSpan): string | undefined {
  const group = attributes[GROUP_ATTRIBUTE];
  if (typeof group === 'string') return group;
  const groups = [...processState.instrumentationScopes]
    .filter(([, scopes]) => scopes.some(({ name }) => name === instrumentationScope?.name))
    .map(([name]) => name);
  return groups.length > 1 ? groups.find((name) => DIRECTIONS[kind]?.test(name)) : groups[0];
}
