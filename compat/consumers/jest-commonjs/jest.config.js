module.exports = {
  testEnvironment: 'node',
  rootDir: 'src',
  transform: { '\\.ts$': ['ts-jest', { tsconfig: '<rootDir>/../tsconfig.json' }] },
  // The scenario names its neighbours as ES modules do.
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
};
