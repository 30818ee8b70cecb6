/** How many bytes a call allocates. The process needs room for young objects that no run fills: start it with `ROOMY`. */
import { memoryUsage } from 'node:process';

/** Without the room a collection in the middle of a run would hide most of what was allocated. */
export const ROOMY = ['--expose-gc', '--min-semi-space-size=128', '--max-semi-space-size=128'];

/**
 * @param {import('./rounds.mjs').Case[]} cases
 * @returns {Promise<Record<string, number>>} bytes a call, in the run with the fewest: now and then V8 allocates for itself
 */
export async function measureBytes(cases, { runs = 5, warmupRuns = 30 } = {}) {
  const bytes = {};
  // Once for nothing: V8 allocates while it still learns what the cases do.
  for (const isKept of [false, true]) {
    for (const { name, calls, run, before } of cases) {
      await before?.();
      for (let i = 0; i < warmupRuns; i++) await run();
      if (!isKept) continue;
      bytes[name] = Infinity;
      for (let i = 0; i < runs; i++) {
        globalThis.gc();
        await run(); // what the collection left to be done is done during this one
        const start = memoryUsage().heapUsed;
        await run();
        bytes[name] = Math.min(bytes[name], (memoryUsage().heapUsed - start) / calls);
      }
    }
  }
  return bytes;
}
