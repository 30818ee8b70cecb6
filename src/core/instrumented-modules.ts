import { createRequire, isBuiltin } from 'node:module';
import { join } from 'node:path';
import type { InstrumentationLike } from './setup-options.js';

/** A module that an instrumentation patches, as the SDK's own instrumentations describe it. */
export interface InstrumentedModule {
  readonly name: string;
  /** Whether files inside the package are patched, not only what its main file exports. */
  readonly hasFiles: boolean;
}

/**
 * What an instrumentation patches while it is loaded. Undefined where it doesn't say: the list is no part of the
 * instrumentations' public interface, though all that extend the SDK's base class have it.
 */
export function instrumentedModules(instrumentation: InstrumentationLike): InstrumentedModule[] | undefined {
  const { _modules: modules } = instrumentation as { _modules?: unknown };
  if (!Array.isArray(modules)) return undefined;
  return (modules as { name?: unknown; files?: unknown }[]).flatMap(({ name, files }) =>
    typeof name === 'string' ? [{ name, hasFiles: Array.isArray(files) && files.length > 0 }] : [],
  );
}

/** The modules that instrumentations would patch while they are loaded, but which are loaded already. Sorted. */
export function modulesLoadedBefore(
  instrumentations: Iterable<InstrumentationLike>,
  isNestRunning: boolean,
): string[] {
  const names = new Set<string>();
  for (const instrumentation of instrumentations) {
    for (const { name } of instrumentedModules(instrumentation) ?? []) names.add(name);
  }
  if (names.size === 0) return [];
  const files = Object.keys(createRequire(join(process.cwd(), 'any.js')).cache).map((file) =>
    file.replaceAll('\\', '/'),
  );
  const builtins = new Set((process as { moduleLoadList?: readonly string[] }).moduleLoadList);
  const isLoaded = (name: string): boolean => {
    if (isBuiltin(name)) return builtins.has(`NativeModule ${name.replace(/^node:/, '')}`);
    // What was loaded as an ES module can't be looked up; but where our module class runs, Nest is.
    if (isNestRunning && /^@nestjs\/(core|common)$/.test(name)) return true;
    return files.some((file) => file.includes(`/node_modules/${name}/`));
  };
  return [...names].filter(isLoaded).sort();
}
