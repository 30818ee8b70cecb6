import type { ModulesContainer } from '@nestjs/core';
import { types } from 'node:util';
import { type AnyClass, classMethods } from './class-methods.js';
import { gateClass } from './gated-class.js';
import { isHandler, isHandlerClass } from './handler-kind.js';
import type { LentGates } from './lent-gates.js';
import { classSpanGroup, ownSpanGroup, type SpanGroupMetadata } from './span-group-metadata.js';

const OUT: SpanGroupMetadata = { group: null, options: {} };

/**
 * Obeys `@SpanGroup` on module classes. It covers the handlers of their controllers, gateways and resolvers that have no
 * group of their own or of their class. The module's own methods, which the decorator took for those of a provider, leave the
 * group.
 */
export function lendModuleGroups(modules: ModulesContainer, gates: LentGates): void {
  for (const { metatype, controllers, providers } of modules.values()) {
    const metadata = isClass(metatype) ? classSpanGroup(metatype) : undefined;
    if (metadata === undefined) continue;
    gateClass(metatype, OUT);
    const { group, options } = metadata;
    if (group === null) continue;
    for (const { metatype: Class } of [...controllers.values(), ...providers.values()]) {
      if (!isClass(Class) || !isHandlerClass(Class) || classSpanGroup(Class) !== undefined) continue;
      for (const method of classMethods(Class.prototype as object)) {
        if (!isHandler(method.method) || ownSpanGroup(method.method) !== undefined) continue;
        gates.lend(Class, method, { group, options });
      }
    }
  }
}

/** Whether Nest makes instances of it. A factory is a function, too. */
export function isClass(metatype: unknown): metatype is AnyClass {
  if (typeof metatype !== 'function' || types.isProxy(metatype)) return false;
  const prototype: unknown = metatype.prototype;
  return typeof prototype === 'object' && prototype !== null && !types.isProxy(prototype);
}
