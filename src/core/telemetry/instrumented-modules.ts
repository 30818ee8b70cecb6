import { isBuiltin } from 'node:module';
import { loadedFiles } from '../instrumentations/loaded-files.js';
import { patchedModules } from '../private-fields/private-fields.js';
import type { InstrumentationLike } from './setup-options.js';

/**
 * The modules of an instrumentation that it hasn't patched yet. It may have several definitions of one module, by version, of
 * which one applies. Node's own modules count as one: the SDK loads them too, and a later `require` patches them all the
 * same.
 */
function unseenModules(instrumentation: InstrumentationLike): string[] {
  const modules = patchedModules(instrumentation) ?? [];
  const subject = (name: string): string => (isBuiltin(name) ? 'node' : name);
  const seen = new Set(modules.filter(({ isSeen }) => isSeen).map(({ name }) => subject(name)));
  return modules.map(({ name }) => name).filter((name) => !seen.has(subject(name)));
}

/**
 * The modules that were loaded before the instrumentations that patch them, sorted.
 *
 * @param loadedPackages packages that the caller knows to be loaded, because nothing lists loaded ES modules
 */
export function modulesLoadedBefore(
  instrumentations: Iterable<InstrumentationLike>,
  loadedPackages: readonly string[],
): string[] {
  const names = new Set([...instrumentations].flatMap(unseenModules));
  if (names.size === 0) return [];
  const files = loadedFiles();
  const builtins = new Set((process as { moduleLoadList?: readonly string[] }).moduleLoadList);
  const isLoaded = (name: string): boolean => {
    if (isBuiltin(name)) return builtins.has(`NativeModule ${name.replace(/^node:/, '')}`);
    return loadedPackages.includes(name) || files.some((file) => file.includes(`/node_modules/${name}/`));
  };
  return [...names].filter(isLoaded).sort();
}
