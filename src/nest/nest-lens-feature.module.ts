import { type DynamicModule, Module } from '@nestjs/common';
import { ModuleRef, ModulesContainer } from '@nestjs/core';
import { endBoot } from '../core/groups/boot-registrations.js';
import type { ReadDefinition } from '../core/groups/span-group-definition.js';
import { SPAN_REGISTRY_SERVICE, SpanRegistryService } from './introspection/span-registry.service.js';
import { reportMissingRoot } from './boot-report.js';
import { lensAppOf } from './lens-app.js';
import { SPAN_REGISTRY_PROVIDERS } from './span-registry-providers.js';
import { NoSpanGroup } from './span-group/span-group.decorator.js';

const FEATURE_DEFINITIONS = Symbol.for('nest-lens.feature-definitions');
const FEATURE_REGISTRATION = Symbol.for('nest-lens.feature-registration');

/**
 * The module that `NestLensModule.forFeature` imports. It has a class of its own, because Nest runs the hooks of a dynamic
 * module's class once for each dynamic instance. With the class of `forRoot`, each feature would set telemetry up.
 *
 * @internal
 */
@NoSpanGroup()
@Module({})
export class NestLensFeatureModule {
  static forDefinitions(definitions: ReadDefinition[]): DynamicModule {
    return {
      module: NestLensFeatureModule,
      providers: [
        // The definitions are also provided as a value, because Nest can be told to merge dynamic modules of equal content.
        { provide: FEATURE_DEFINITIONS, useValue: definitions },
        {
          provide: FEATURE_REGISTRATION,
          inject: [ModulesContainer, ModuleRef],
          useFactory: (modules: ModulesContainer, module: ModuleRef) => {
            const app = lensAppOf(modules, module);
            const register = (): void => definitions.forEach((definition) => app.hold.register(definition));
            // Nest calls no hooks of a module that is loaded lazily.
            if (app.record.hooksHaveBegun) register();
            else app.beginBoot();
            return {
              onModuleInit: register,
              onApplicationBootstrap() {
                endBoot();
                if (app.roots.length === 0) reportMissingRoot();
              },
            };
          },
        },
        // The class of this copy of the package, even if `forRoot` is of another copy.
        ...SPAN_REGISTRY_PROVIDERS,
      ],
      exports: [SpanRegistryService, SPAN_REGISTRY_SERVICE],
    };
  }
}
