/** Counts a span by its group, if it has one. */
export function countSpan(counts: Map<string, { count: number }>, group: unknown): void {
  if (typeof group !== 'string') return;
  const found = counts.get(group);
  if (found === undefined) counts.set(group, { count: 1 });
  else found.count++;
}
