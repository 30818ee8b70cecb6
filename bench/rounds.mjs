/**
 * Arranges what tinybench measures: all cases in turn, round after round, so that what the machine does beside it hits them
 * alike, and ratios are taken within a round.
 */
import { Bench } from 'tinybench';

/**
 * @typedef {object} Case
 * @property {string} name
 * @property {number} calls how many calls one run makes
 * @property {() => unknown} run
 * @property {number} [iterations] how often at least, in each slot
 * @property {() => unknown} [before] brings about what the case needs, such as its group being on; not measured
 */

/** Nanoseconds for one call, over one slot of time. */
async function measureSlot({ calls, run, iterations = 3 }, slotMs) {
  const bench = new Bench({ time: slotMs, iterations, warmup: false });
  bench.add('slot', run);
  await bench.run();
  const [{ result }] = bench.tasks;
  if (result.error) throw result.error;
  return (result.latency.p50 * 1e6) / calls;
}

/**
 * @param {Case[]} cases
 * @param {{ rounds: number, slotMs: number, warmupRounds?: number }} options
 * @returns {Promise<Record<string, number[]>>} nanoseconds a call, for each case and round
 */
export async function measureInRounds(cases, { rounds, slotMs, warmupRounds = 3 }) {
  const taken = Object.fromEntries(cases.map(({ name }) => [name, []]));
  for (let round = -warmupRounds; round < rounds; round++) {
    // Every other round runs backwards, so that nobody always follows the same neighbour.
    for (const each of round % 2 === 0 ? cases : cases.toReversed()) {
      await each.before?.();
      const ns = await measureSlot(each, slotMs);
      if (round >= 0) taken[each.name].push(ns);
    }
  }
  return taken;
}
