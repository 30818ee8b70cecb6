/**
 * The candidate that a misspelt name was probably meant to be, or undefined when none is close.
 *
 * Close: at most two edits (a swap of neighbours counts as one), and fewer than half of the name's letters.
 */
export function nearestName(name: string, candidates: Iterable<string>): string | undefined {
  let limit = Math.min(2, Math.floor((name.length - 1) / 2));
  let nearest: string | undefined;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - name.length) > limit) continue;
    const distance = editDistance(name, candidate, limit);
    if (distance > limit || (distance === limit && nearest !== undefined)) continue;
    limit = distance;
    nearest = candidate;
  }
  return nearest;
}

/**
 * Optimal string alignment distance: insertions, deletions, substitutions, swaps of neighbours.
 *
 * Measured: a registry has thousands of names, nearly all of them far away. So what both begin with is left out, only cells
 * within the limit of the diagonal are looked at, and a row without any gives up: a tenth of the time.
 *
 * @returns more than `limit` when it is farther
 */
function editDistance(one: string, other: string, limit: number): number {
  const far = limit + 1;
  let same = 0;
  while (same < one.length && one[same] === other[same]) same++;
  const a = one.slice(same);
  const b = other.slice(same);
  let beforeLast: number[] = [];
  let last: number[] = [];
  for (let j = 0; j <= Math.min(b.length, limit); j++) last[j] = j;
  for (let i = 1; i <= a.length; i++) {
    const row: number[] = [];
    let closest = far;
    for (let j = Math.max(0, i - limit); j <= Math.min(b.length, i + limit); j++) {
      let cost = (last[j] ?? far) + 1;
      if (j > 0) {
        const substitution = a[i - 1] === b[j - 1] ? 0 : 1;
        cost = Math.min(cost, (row[j - 1] ?? far) + 1, (last[j - 1] ?? far) + substitution);
        if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
          cost = Math.min(cost, (beforeLast[j - 2] ?? far) + 1);
        }
      }
      row[j] = cost;
      closest = Math.min(closest, cost);
    }
    if (closest > limit) return far;
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? far;
}
