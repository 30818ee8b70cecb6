/** How long an application with 1,000 controllers takes until it listens, with NestLens and without. */
import { runProcess } from './processes.mjs';
import { ratio, summarise } from './statistics.mjs';

/** @returns {Promise<object[]>} a row for each version of Nest */
export async function runBoot({ pairs = 18 } = {}) {
  const rows = [];
  for (const workspace of ['nest-11', 'nest-12']) {
    const taken = { with: [], without: [], load: [] };
    for (let pair = -1; pair < pairs; pair++) {
      for (const withLens of pair % 2 === 0 ? [true, false] : [false, true]) {
        const { bootMs, loadMs } = await runProcess('boot.process.mjs', {
          workspace,
          controllers: 1_000,
          withLens,
        });
        if (pair < 0) continue; // the files come from the disk
        taken[withLens ? 'with' : 'without'].push(bootMs);
        if (withLens) taken.load.push(loadMs);
      }
    }
    rows.push({
      workspace,
      without: summarise(taken.without),
      with: summarise(taken.with),
      ratio: ratio(taken.with, taken.without),
      loadMs: summarise(taken.load),
    });
  }
  return rows;
}
