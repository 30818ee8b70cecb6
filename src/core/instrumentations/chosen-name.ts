import type { CheckedOptions } from './checked-options.js';
import { isKnownScope, packageOfScope } from './known-scopes.js';
import { snakeCase } from './scope-group-name.js';

/**
 * The application's name for the group of a scope; undefined if it has none. The scope's own name counts first, then its
 * package, then the name that its group has without the option: `pg`. Another scope with that default name, `@acme/pg`, doesn't
 * count.
 *
 * @param standard the default name of the scope's group
 */
export function chosenName(
  { names }: CheckedOptions,
  scope: string,
  standard: string,
): string | false | undefined {
  return (
    names.get(scope) ??
    names.get(packageOfScope(scope)) ??
    names.get(standard) ??
    [...names].find(([key]) => isSpelled(key, standard))?.[1]
  );
}

/** Whether a key is the name of a known instrumentation in the style of its package: `nestjs-core`, `socket.io`. */
function isSpelled(key: string, standard: string): boolean {
  return isKnownScope(standard) && snakeCase(key) === standard;
}
