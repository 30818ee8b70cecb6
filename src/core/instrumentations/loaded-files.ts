// Imported as a whole, because webpack 5.113 warns about an import of `createRequire` by name.
import * as nodeModule from 'node:module';
import { join } from 'node:path';

/** The files of the loaded CommonJS modules, with slashes as separators. Nothing lists loaded ES modules. */
export function loadedFiles(): string[] {
  const { cache } = nodeModule.createRequire(join(process.cwd(), 'any.js'));
  return Object.keys(cache).map((file) => file.replaceAll('\\', '/'));
}
