/**
 * The candidate that a misspelt name was probably meant to be, or undefined when none is close.
 *
 * Close: at most two edits (a swap of neighbours counts as one), and fewer than half of the name's letters.
 *
 * @param name isn't among the candidates
 */
export function nearestName(name: string, candidates: Iterable<string>): string | undefined {
  let limit = Math.min(2, Math.floor((name.length - 1) / 2));
  let nearest: string | undefined;
  for (const candidate of candidates) {
    if (limit < 1) break;
    if (!isWithin(limit, name, candidate)) continue;
    nearest = candidate;
    // The next one has to be closer than this one.
    do limit--;
    while (limit > 0 && isWithin(limit, name, candidate));
  }
  return nearest;
}

/**
 * Whether at most that many edits turn one text into the other, from these positions on. An edit is an insertion, a deletion,
 * a substitution or a swap of neighbours.
 *
 * Measured: a registry has thousands of names, nearly all of them far away. With two edits this gives up after a dozen
 * short calls, in half the time that the usual table of distances takes.
 */
function isWithin(edits: number, a: string, b: string, i = 0, j = 0): boolean {
  const longer = a.length - i - (b.length - j);
  if (longer > edits || -longer > edits) return false;
  while (i < a.length && a.charCodeAt(i) === b.charCodeAt(j)) {
    i++;
    j++;
  }
  if (i === a.length || j === b.length) return true;
  if (edits === 0) return false;
  return (
    isWithin(edits - 1, a, b, i + 1, j + 1) ||
    isWithin(edits - 1, a, b, i + 1, j) ||
    isWithin(edits - 1, a, b, i, j + 1) ||
    (a[i] === b[j + 1] && a[i + 1] === b[j] && isWithin(edits - 1, a, b, i + 2, j + 2))
  );
}

/** Shorter names are contained in too many others. */
const SHORTEST_PART = 3;

/**
 * The candidates that a misspelt name may mean, the nearest first: those within the edits above, then those that contain the
 * name or are contained in it.
 *
 * @param most the largest number of candidates to return
 */
export function nearestNames(name: string, candidates: Iterable<string>, most: number): string[] {
  const limit = Math.min(2, Math.floor((name.length - 1) / 2));
  const isPart = (part: string, whole: string): boolean =>
    part.length >= SHORTEST_PART && whole.includes(part);
  const ranked: [rank: number, candidate: string][] = [];
  for (const candidate of candidates) {
    let rank = 1;
    while (rank <= limit && !isWithin(rank, name, candidate)) rank++;
    if (rank <= limit || isPart(name, candidate) || isPart(candidate, name)) ranked.push([rank, candidate]);
  }
  ranked.sort(([a, nameA], [b, nameB]) => a - b || (nameA < nameB ? -1 : 1));
  return ranked.slice(0, most).map(([, candidate]) => candidate);
}
