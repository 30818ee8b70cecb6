import { fileURLToPath } from 'node:url';
import swc from '@swc/core';
import { defineConfig } from 'vitest/config';
import { BaseSequencer } from 'vitest/node';
import { SWC_SETTINGS } from './scripts/swc-settings.mjs';

const src = (name) => fileURLToPath(new URL(`./src/${name}`, import.meta.url));

/**
 * Test files share their process: to load Nest and OpenTelemetry takes longer than most files do. These change the whole process,
 * or count what is in it: each gets one of its own.
 */
const ALONE = [
  'test/copies/**/*.spec.ts',
  'test/core/instrumentations/**/*.spec.ts',
  'test/core/state/**/*.spec.ts',
  'test/core/traces/**/*.spec.ts',
  'test/lifecycle/**/*.spec.ts',
  // Their groups of instrumentations are those that the process has loaded.
  'test/nest/introspection/instrumentation-groups.spec.ts',
  'test/sample/**/*.spec.ts',
  // These load the modules of the package anew, and they would stay.
  'test/nest/span-group/interceptors-of-two-copies.spec.ts',
  'test/testing/lens-testbed.spec.ts',
];

/**
 * These take longest. Vitest begins with large files if it has no times of an earlier run, so on a fresh clone they would
 * begin last. Measured: a tenth of the whole run.
 */
const LONGEST = [
  'docs/what-happens-when',
  'lifecycle/early-start',
  'page/page-in-browser',
  'span-group/mixed-requests',
  'lifecycle/nothing-is-double',
  'sample/shop',
];

class LongestFirst extends BaseSequencer {
  async sort(files) {
    const place = ({ moduleId }) => {
      const at = LONGEST.findIndex((name) => moduleId.endsWith(`/${name}.spec.ts`));
      return at === -1 ? LONGEST.length : at;
    };
    return (await super.sort(files)).sort((a, b) => place(a) - place(b));
  }
}

/** Vitest shuffles with a sequencer of its own. */
const isShuffled = process.argv.some((argument) => argument.startsWith('--sequence.shuffle'));

const decorators = {
  name: 'swc',
  enforce: 'pre',
  async transform(code, id) {
    const [file] = id.split('?');
    if (!/\.[cm]?ts$/.test(file)) return;
    return swc.transform(code, { ...SWC_SETTINGS, filename: file, sourceMaps: true });
  },
};

export default defineConfig({
  plugins: [decorators],
  oxc: false,
  resolve: {
    alias: [
      // The examples of docs show jest, as a new Nest application has it.
      { find: '@jest/globals', replacement: 'vitest' },
      { find: /^nest-lens$/, replacement: src('index.ts') },
      { find: /^nest-lens\/(core|eslint|fallbacks|testing)$/, replacement: src('$1.ts') },
    ],
  },
  test: {
    globalSetup: 'scripts/build-before-tests.mjs',
    reporters: ['default', './scripts/test-count.mjs'],
    pool: 'forks',
    sequence: isShuffled ? {} : { sequencer: LongestFirst },
    // A third of the time is spent waiting for processes and limits.
    maxWorkers: 4,
    projects: [
      {
        extends: true,
        test: { name: 'shared', isolate: false, include: ['test/**/*.spec.ts'], exclude: ALONE },
      },
      { extends: true, test: { name: 'alone', isolate: true, include: ALONE } },
    ],
    // No test waits that long where it passes. A shared machine may take ten times what an idle one does.
    testTimeout: 30_000,
    hookTimeout: 30_000,
    setupFiles: ['test/setup.ts'],
    // Most code of a test runs a few times, too few for optimized code to pay. Measured: a tenth less for the tests of `nest`.
    execArgv: ['--disable-warning=ExperimentalWarning', '--no-opt'],
  },
});
