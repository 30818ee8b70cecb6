import type { Attributes } from '@opentelemetry/api';
import { GROUP_ATTRIBUTE } from './site-attributes.js';

/** Counts a span by its group, if it has one. */
export function countSpan(counts: Map<string, { count: number }>, attributes: Attributes): void {
  const group = attributes[GROUP_ATTRIBUTE];
  if (typeof group !== 'string') return;
  const found = counts.get(group);
  if (found === undefined) counts.set(group, { count: 1 });
  else found.count++;
}
