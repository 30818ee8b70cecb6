// Imported as a whole, because webpack 5.113 warns about an import of `createRequire` by name.
import * as nodeModule from 'node:module';
import { join } from 'node:path';
import { createError, NestLensError } from '../diagnostics/errors.js';
import type { SdkModule } from './sdk-parts.js';

/**
 * It is no literal, because bundlers follow literals: a bundle would fail to build if this optional package isn't installed,
 * and grow by 1.3 MB if it is.
 */
const SDK_PACKAGE = ['@opentelemetry', 'sdk-node'].join('/');

/** The only import of an SDK package. It happens at an enabled set-up and never otherwise. */
export async function loadSdk(): Promise<SdkModule> {
  // The CommonJS build turns the `import` below into a call of `require`. This `require` is called then,
  // which bundlers leave alone. The ESM build doesn't use it.
  const require = createOwnRequire();
  void require;
  try {
    return (await import(/* webpackIgnore: true */ /* @vite-ignore */ SDK_PACKAGE)) as SdkModule;
  } catch (error) {
    throw notFoundOr(error);
  }
}

/** The same, synchronously, with a given `require`. */
export function loadSdkWith(load: (specifier: string) => unknown): SdkModule {
  try {
    return load(SDK_PACKAGE) as SdkModule;
  } catch (error) {
    throw notFoundOr(error);
  }
}

/** Makes a `require` for the folder of this file, or of the bundle that contains it. */
function createOwnRequire(): NodeJS.Require {
  try {
    return nodeModule.createRequire(__filename);
  } catch {
    // An ES module has no `__filename`.
    return nodeModule.createRequire(join(process.cwd(), 'any.js'));
  }
}

function notFoundOr(error: unknown): unknown {
  const { code } = error as { code?: unknown };
  if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') return error;
  return Object.assign(createError(NestLensError, 'SDK_NOT_FOUND'), { cause: error });
}
