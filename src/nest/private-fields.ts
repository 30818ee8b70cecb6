import type { ModuleRef, ModulesContainer } from '@nestjs/core';

/*
 * Every private field of Nest that NestLens reads, with the missing public way. If a field is not as expected, the function
 * returns its argument.
 */

/**
 * `container` of a `ModuleRef`, a protected field: seen in 11.0 to 12.5. The public way is to inject `ModulesContainer`,
 * which is a `Map`. But if an `instanceDecorator` replaces every provider by a bare proxy or an inheriting object, the
 * methods of `Map` fail on it, as in Nest's own `DiscoveryService`.
 */
export function modulesContainerOf(given: ModulesContainer, module: ModuleRef): ModulesContainer {
  try {
    given.has('');
    return given;
  } catch {
    const { container } = module as unknown as { container?: { getModules?(): ModulesContainer } };
    return container?.getModules?.() ?? given;
  }
}
