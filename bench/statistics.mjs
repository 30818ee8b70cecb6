/** Medians, and how far the rounds lay apart. */
const sorted = (values) => [...values].sort((a, b) => a - b);

/** @param {readonly number[]} values */
export function median(values) {
  const inOrder = sorted(values);
  const middle = inOrder.length >> 1;
  return inOrder.length % 2 === 1 ? inOrder[middle] : (inOrder[middle - 1] + inOrder[middle]) / 2;
}

/** @param {readonly number[]} values */
export function summarise(values) {
  const inOrder = sorted(values);
  return { median: median(values), min: inOrder[0], max: inOrder.at(-1) };
}

/** The ratio of two cases, round by round: what the machine did beside them hit both. */
export function ratio(values, base) {
  return summarise(values.map((value, round) => value / base[round]));
}

/** Joins the rounds of several processes. */
export function joinRounds(runs) {
  const joined = {};
  for (const run of runs) {
    for (const [name, values] of Object.entries(run)) (joined[name] ??= []).push(...values);
  }
  return joined;
}
