import { type DynamicModule, Module } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import type { SpanGroupDefinition } from '../core/define-span-groups.js';
import { lensAppOf } from './lens-app.js';

const FEATURE_REGISTRATION = Symbol.for('nest-lens.feature-registration');

/**
 * What `NestLensModule.forFeature` imports. A class of its own: the hooks of a dynamic module's class run once for each
 * dynamic instance, so sharing the core module's would set telemetry up once per feature.
 *
 * @internal
 */
@Module({})
export class NestLensFeatureModule {
  static forDefinitions(definitions: readonly SpanGroupDefinition[]): DynamicModule {
    return {
      module: NestLensFeatureModule,
      providers: [
        {
          provide: FEATURE_REGISTRATION,
          inject: [ModulesContainer],
          useFactory: (modules: ModulesContainer) => {
            const app = lensAppOf(modules);
            return {
              onModuleInit: () => app.register(definitions),
              // With a forRoot in the application, its lifecycle does this after the shutdown of telemetry.
              onApplicationShutdown: () => {
                if (app.firstRoot() === undefined) app.releaseRegistrations();
              },
            };
          },
        },
      ],
    };
  }
}
