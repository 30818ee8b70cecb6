// Imported as a whole, because webpack 5.113 warns about an import of `createRequire` by name.
import * as nodeModule from 'node:module';
import { join, resolve } from 'node:path';

/**
 * A `require` that finds the application's packages, wherever NestLens is installed. The main file may be a launcher outside
 * of the application; then the working directory counts, and at last the folder of NestLens, from which a set-up loads the
 * SDK.
 *
 * @param wanted the package to find; the first place that has it wins
 */
export function requireOfApplication(wanted: string): NodeJS.Require {
  const inWorkingDirectory = nodeModule.createRequire(join(process.cwd(), 'any.js'));
  const candidates = [inWorkingDirectory];
  const main = process.argv[1];
  if (main !== undefined) {
    const named = resolve(main);
    // It resolves the main file as Node does: a directory means its main file, an extension may be missing, a link is
    // followed.
    candidates.unshift(nodeModule.createRequire(attemptResolve(inWorkingDirectory, named) ?? named));
  }
  const own = ownFile();
  if (own !== undefined) candidates.push(nodeModule.createRequire(own));
  return candidates.find((require) => attemptResolve(require, wanted) !== undefined) ?? candidates[0]!;
}

/** The file behind a specifier; undefined if there is none. */
export function attemptResolve(require: NodeJS.Require, specifier: string): string | undefined {
  try {
    return require.resolve(specifier);
  } catch {
    return undefined;
  }
}

/** This file, as a path or URL. Both builds, ESM and CommonJS, understand only this expression. */
function ownFile(): string | undefined {
  const kept = Object.getOwnPropertyDescriptor(Error, 'prepareStackTrace');
  try {
    Error.prepareStackTrace = (_error, [here]) => here?.getFileName();
    return (new Error('here') as { stack?: string | null }).stack ?? undefined;
  } catch {
    return undefined;
  } finally {
    if (kept === undefined) Reflect.deleteProperty(Error, 'prepareStackTrace');
    else Reflect.defineProperty(Error, 'prepareStackTrace', kept);
  }
}
