import { defineConfig } from 'vitest/config';
import config from '../../vitest.config.mjs';

const { globalSetup: _, projects: __, ...test } = config.test;

/** Each spec in a process of its own, one at a time, with the break that its folder names. */
export default defineConfig({
  ...config,
  root: process.cwd(),
  test: {
    ...test,
    include: ['test/**/*.spec.ts'],
    reporters: ['scripts/mutate/reporter.mjs'],
    setupFiles: ['scripts/mutate/set-break.mjs', ...test.setupFiles],
    maxWorkers: 1,
  },
});
