// As a whole: webpack 5.113 warns about a `createRequire` that is imported by its name, because it can't follow this one.
import * as nodeModule from 'node:module';
import { join } from 'node:path';
import { createError, NestLensError } from '../diagnostics/errors.js';
import type { SdkModule } from './sdk-parts.js';

/**
 * No literal, because bundlers follow literals: a bundle would fail to build where this optional package isn't installed, and
 * would grow by 1.3 MB where it is.
 */
const SDK_PACKAGE = ['@opentelemetry', 'sdk-node'].join('/');

/** The only import of an SDK package: at an enabled set-up, and only then. */
export async function loadSdk(): Promise<SdkModule> {
  // In the CommonJS build the compiler turns the `import` below into a call of `require`. It calls this one, which bundlers
  // leave alone. The ESM build doesn't use it.
  const require = createOwnRequire();
  void require;
  try {
    return (await import(/* webpackIgnore: true */ /* @vite-ignore */ SDK_PACKAGE)) as SdkModule;
  } catch (error) {
    throw notFoundOr(error);
  }
}

/** The same at once, with a `require` that is given. */
export function loadSdkWith(load: (specifier: string) => unknown): SdkModule {
  try {
    return load(SDK_PACKAGE) as SdkModule;
  } catch (error) {
    throw notFoundOr(error);
  }
}

/** Looks from the place of this file, or of the bundle that it is in. */
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
