// As a whole: webpack 5.113 warns about a `createRequire` that is imported by its name.
import * as nodeModule from 'node:module';
import { join, resolve } from 'node:path';

/**
 * What the application can load: the packages are its own, wherever NestLens is. The main file may be a launcher that is
 * none of the application's; then the working directory counts, and at last the place of NestLens, from which a set-up
 * loads the SDK.
 *
 * @param wanted a package that it has to find, if any of them does
 */
export function requireOfApplication(wanted: string): NodeJS.Require {
  const inWorkingDirectory = nodeModule.createRequire(join(process.cwd(), 'any.js'));
  const candidates = [inWorkingDirectory];
  const main = process.argv[1];
  if (main !== undefined) {
    const named = resolve(main);
    // As Node does it: a directory stands for its main file, an extension may be missing, a link is followed.
    candidates.unshift(nodeModule.createRequire(attemptResolve(inWorkingDirectory, named) ?? named));
  }
  const own = ownFile();
  if (own !== undefined) candidates.push(nodeModule.createRequire(own));
  return candidates.find((require) => attemptResolve(require, wanted) !== undefined) ?? candidates[0]!;
}

/** The file behind a specifier; undefined where there is none. */
export function attemptResolve(require: NodeJS.Require, specifier: string): string | undefined {
  try {
    return require.resolve(specifier);
  } catch {
    return undefined;
  }
}

/** This file, as a path or URL. No other expression for it is understood by both builds, ESM and CommonJS. */
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
