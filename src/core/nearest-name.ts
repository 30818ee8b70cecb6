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
    const distance = editDistance(name, candidate);
    if (distance > limit || (distance === limit && nearest !== undefined)) continue;
    limit = distance;
    nearest = candidate;
  }
  return nearest;
}

/** Optimal string alignment distance: insertions, deletions, substitutions, swaps of neighbours. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, beforeLast[j - 2]! + 1);
      }
      row.push(cost);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length]!;
}
