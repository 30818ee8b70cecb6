import type { ModuleRef, ModulesContainer } from '@nestjs/core';

/*
 * Every private field of Nest that NestLens reads, with the public way that is missing. What is not as expected here reads as
 * what was given.
 */

/**
 * `container` of a `ModuleRef`, a protected field: seen in 11.0 to 12.5. The public way is to inject `ModulesContainer`, which is
 * a `Map`. Where an `instanceDecorator` puts a bare proxy, or an object that inherits, before every provider, no method of a
 * `Map` can be called on what is injected. Nest's own `DiscoveryService` fails there.
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
