import type { DynamicModule, Type } from '@nestjs/common';
import { ApplicationConfig, HttpAdapterHost, ModuleRef, ModulesContainer } from '@nestjs/core';
import { expectSetUp } from '../core/groups/missing-set-up.js';
import { ApplicationBoot } from './application-boot.js';
import { type Endpoint, readIntrospection } from './introspection/introspection-options.js';
import { createLensControllers } from './introspection/lens-controllers.js';
import { PREVIEWS } from './introspection/previews.js';
import { SPAN_REGISTRY_SERVICE, SpanRegistryService } from './introspection/span-registry.service.js';
import { lensAppOf } from './lens-app.js';
import { NEST_LENS_ROOT, type NestLensModuleOptions } from './nest-lens-options.js';
import type { OptionsSource } from './options-source.js';
import { SpanGroupInterceptor } from './span-group/span-group.interceptor.js';
import { SPAN_REGISTRY_PROVIDERS } from './span-registry-providers.js';
import { TelemetryLifecycle } from './telemetry.lifecycle.js';

let roots = 0;

/**
 * The dynamic module of one `forRoot`.
 *
 * Nest's ConfigurableModuleBuilder doesn't fit, because it provides options as a value. With `snapshot: true` Nest writes
 * values down as JSON, which fails for a span processor; with an `instanceDecorator` it gives out a proxy of them. So options
 * stay in a function here, and no provided value is an object.
 */
export function createRootModule(
  module: Type<unknown>,
  introspection: NestLensModuleOptions['introspection'],
  source: OptionsSource,
  imports: DynamicModule['imports'] = [],
): DynamicModule {
  expectSetUp();
  const read = readIntrospection(introspection);
  const controllers = read === false ? [] : createLensControllers(read);
  const endpoint: Endpoint = { introspection: read, isAsked: introspection !== undefined, controllers };
  // The number tells two calls apart if Nest compares dynamic modules by their content.
  const mark = Symbol(`NestLensModule.forRoot ${++roots}`);
  return {
    module,
    global: true,
    imports,
    controllers,
    providers: [
      ...(source.providers ?? []),
      { provide: NEST_LENS_ROOT, useValue: mark },
      {
        provide: ApplicationBoot,
        inject: [ModulesContainer, ModuleRef, ApplicationConfig],
        useFactory: (modules: ModulesContainer, module: ModuleRef, config: ApplicationConfig) =>
          new ApplicationBoot(lensAppOf(modules, module), config, mark, endpoint),
      },
      {
        provide: TelemetryLifecycle,
        inject: [ModulesContainer, ModuleRef, HttpAdapterHost, ...source.inject],
        useFactory: async (
          modules: ModulesContainer,
          module: ModuleRef,
          http: HttpAdapterHost,
          ...injected: unknown[]
        ) => {
          const app = lensAppOf(modules, module);
          const options = (await source.read(...injected)) ?? {};
          const isFirst = app.roots[0] === mark;
          if (isFirst) await app.gateTheRest(options);
          return new TelemetryLifecycle(app, options, isFirst, http);
        },
      },
      ...SPAN_REGISTRY_PROVIDERS,
      {
        provide: PREVIEWS,
        inject: [ModulesContainer, ModuleRef],
        useFactory: (modules: ModulesContainer, module: ModuleRef) => lensAppOf(modules, module).previews,
      },
      SpanGroupInterceptor,
    ],
    exports: [SpanRegistryService, SPAN_REGISTRY_SERVICE, SpanGroupInterceptor],
  };
}
