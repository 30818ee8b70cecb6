import { defineConfig } from 'vitest/config';
import { BaseSequencer } from 'vitest/node';
import config from '../../vitest.config.mjs';

const { globalSetup: _, projects: __, ...test } = config.test;
const place = ({ moduleId }) => Number(/\.run-(\d+)\./.exec(moduleId)[1]);

/** Copies run in the order that their folders name. */
class InOrder extends BaseSequencer {
  sort(specs) {
    return specs.sort((one, other) => place(one) - place(other));
  }
}

/** All copies of specs in one process, one at a time, with the break that the folder of each names. */
export default defineConfig({
  ...config,
  root: process.cwd(),
  test: {
    ...test,
    include: ['test/**/*.spec.ts'],
    reporters: ['scripts/mutate/reporter.mjs'],
    setupFiles: ['scripts/mutate/set-break.mjs', ...test.setupFiles],
    isolate: false,
    maxWorkers: 1,
    sequence: { sequencer: InOrder },
    testTimeout: 10_000,
    hookTimeout: 10_000,
  },
});
