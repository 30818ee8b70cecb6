import { transformSync } from '@swc/core';

/** An ES module of TypeScript as JavaScript, with the metadata of decorators that Nest reads. */
export function compileProgram(source: string): string {
  return transformSync(source, {
    configFile: false,
    swcrc: false,
    jsc: {
      target: 'es2022',
      parser: { syntax: 'typescript', decorators: true },
      transform: { legacyDecorator: true, decoratorMetadata: true },
    },
    module: { type: 'es6' },
  }).code;
}
