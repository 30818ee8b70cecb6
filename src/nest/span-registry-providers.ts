import type { Provider } from '@nestjs/common';
import { ModuleRef, ModulesContainer } from '@nestjs/core';
import { SPAN_REGISTRY_SERVICE, SpanRegistryService } from './introspection/span-registry.service.js';
import { lensAppOf } from './lens-app.js';

/** The registry service, by its class in this copy of the package and by the token of all copies. */
export const SPAN_REGISTRY_PROVIDERS: readonly Provider[] = [
  {
    provide: SpanRegistryService,
    inject: [ModulesContainer, ModuleRef],
    useFactory: (modules: ModulesContainer, module: ModuleRef) => lensAppOf(modules, module).spanRegistry,
  },
  { provide: SPAN_REGISTRY_SERVICE, useExisting: SpanRegistryService },
];
