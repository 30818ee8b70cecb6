/**
 * How long an application with 1,000 controllers takes until it listens: without NestLens, with decorated handlers, and with nothing
 * decorated: with all of `autoGroups`, and with the module alone.
 */
import { runProcess } from './processes.mjs';
import { ratio, summarise } from './statistics.mjs';

const VARIANTS = ['with', 'without', 'auto', 'module'];

/** @returns {Promise<object[]>} a row for each version of Nest */
export async function runBoot({ rounds = 18 } = {}) {
  const rows = [];
  for (const workspace of ['nest-11', 'nest-12']) {
    const taken = { with: [], without: [], auto: [], module: [], load: [] };
    for (let round = -1; round < rounds; round++) {
      for (const variant of round % 2 === 0 ? VARIANTS : VARIANTS.toReversed()) {
        const { bootMs, loadMs } = await runProcess('boot.process.mjs', {
          workspace,
          controllers: 1_000,
          variant,
        });
        if (round < 0) continue; // the files come from the disk
        taken[variant].push(bootMs);
        if (variant === 'with') taken.load.push(loadMs);
      }
    }
    rows.push({
      workspace,
      without: summarise(taken.without),
      with: summarise(taken.with),
      ratio: ratio(taken.with, taken.without),
      auto: summarise(taken.auto),
      autoRatio: ratio(taken.auto, taken.without),
      autoToModule: ratio(taken.auto, taken.module),
      loadMs: summarise(taken.load),
    });
  }
  return rows;
}
