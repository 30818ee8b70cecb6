// ESM mode (--experimental-vm-modules, see the test script): Nest 12 is ESM only, and jest 30 cannot require it on
// Node < 24.9.
export default {
  testEnvironment: 'node',
  // Jest would warn when a timer of a file that is over reads the shared state, which lives on that file's globalThis.
  testEnvironmentOptions: { globalsCleanup: 'off' },
  // No test waits that long where it passes. A shared machine may take ten times what an idle one does.
  testTimeout: 30_000,
  // A third of the time is spent waiting for processes and limits; on two cores Jest would use one worker.
  maxWorkers: 3,
  // A worker keeps the modules of each file that it has run, 2 GB by the end, and then doesn't end within Jest's half a second.
  workerIdleMemoryLimit: '800MB',
  globalSetup: '<rootDir>/scripts/build-before-tests.mjs',
  reporters: ['default', '<rootDir>/scripts/test-count.mjs'],
  testMatch: ['<rootDir>/test/**/*.spec.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          target: 'es2022',
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true },
          keepClassNames: true,
        },
        module: { type: 'es6' },
      },
    ],
  },
  moduleNameMapper: {
    '^nest-lens$': '<rootDir>/src/index.ts',
    '^nest-lens/(core|eslint|fallbacks|testing)$': '<rootDir>/src/$1.ts',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  setupFilesAfterEnv: ['<rootDir>/test/setup.ts'],
};
