/**
 * How SWC compiles TypeScript for tests: with the metadata of decorators that Nest reads.
 *
 * @type {import('@swc/core').Options}
 */
export const SWC_SETTINGS = {
  configFile: false,
  swcrc: false,
  jsc: {
    target: 'es2022',
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true },
    keepClassNames: true,
  },
  module: { type: 'es6' },
};
