import {
  type DynamicModule,
  Inject,
  Module,
  type NestModule,
  type OnModuleInit,
  Optional,
  Scope,
} from '@nestjs/common';
import { ApplicationConfig, HttpAdapterHost, ModuleRef, ModulesContainer } from '@nestjs/core';
import {
  type ReadDefinition,
  readDefinitions,
  type SpanGroupDefinition,
} from '../core/groups/span-group-definition.js';
import type { SpanGroupName } from '../core/groups/span-group-names.js';
import { expectSetUp } from '../core/groups/missing-set-up.js';
import { createError, NestLensError } from '../core/diagnostics/errors.js';
import { ApplicationBoot } from './application-boot.js';
import { checkAsyncOptions, checkModuleOptions } from './check-module-options.js';
import { lensAppOf } from './lens-app.js';
import { type Endpoint, readIntrospection } from './introspection/introspection-options.js';
import { createLensControllers } from './introspection/lens-controllers.js';
import { PREVIEWS } from './introspection/previews.js';
import { NestLensFeatureModule } from './nest-lens-feature.module.js';
import {
  NEST_LENS_ROOT,
  type NestLensModuleAsyncOptions,
  type NestLensModuleOptions,
} from './nest-lens-options.js';
import { asyncSource, type OptionsSource } from './options-source.js';
import { NoSpanGroup } from './span-group/span-group.decorator.js';
import { SpanGroupInterceptor } from './span-group/span-group.interceptor.js';
import { SPAN_REGISTRY_SERVICE, SpanRegistryService } from './introspection/span-registry.service.js';
import { TelemetryLifecycle } from './telemetry.lifecycle.js';

/**
 * Wires NestLens into an application: `forRoot` once, in the root module; `forFeature` in each module that emits spans.
 *
 * @example
 * ```ts
 * @Module({ imports: [NestLensModule.forRoot({ registrations: [shop] }), OrdersModule] })
 * class AppModule {}
 * ```
 */
@NoSpanGroup()
@Module({})
export class NestLensModule implements NestModule, OnModuleInit {
  /** @internal */
  constructor(
    @Inject(ModuleRef) private readonly module: ModuleRef,
    @Optional() @Inject(NEST_LENS_ROOT) private readonly mark: symbol | undefined,
  ) {}

  /** Nest calls it for the middleware of an HTTP application, before it registers routes. */
  configure(): void {
    const { lifecycle } = this;
    if (lifecycle === undefined) return;
    this.module.get(ApplicationBoot).keepOneEndpoint();
    lifecycle.beforeRoutes();
  }

  /** Nest calls it when the module's providers are initialised. With `setupAt: 'init'`, it sets telemetry up. */
  async onModuleInit(): Promise<void> {
    await this.lifecycle?.afterRegistrations();
  }

  /**
   * It isn't injected: if it were made for each request, the module would be too, and Nest would never call the module's
   * hooks.
   */
  private get lifecycle(): TelemetryLifecycle | undefined {
    if (this.mark === undefined) return undefined; // The application has imported the bare class.
    if (this.module.introspect(TelemetryLifecycle).scope === Scope.REQUEST) {
      throw createError(NestLensError, 'OPTIONS_REQUEST_SCOPED');
    }
    return this.module.get(TelemetryLifecycle);
  }

  /**
   * Registers span groups, sets telemetry up when every module has registered its own, adds `GET /lens/groups`, and provides
   * `SpanRegistryService` everywhere. The environment is read at set-up. If telemetry fails, a warning says so, every group
   * stays off, and the application starts.
   *
   * Of a second call in the same application, only the registrations count.
   *
   * @param options see {@link NestLensModuleOptions}
   * @throws TypeError for an option that is unknown or of a wrong type; NestLensError `RUNTIME_CONTROL_UNGUARDED` for
   * `runtimeControl` without guards
   *
   * @example
   * ```ts
   * NestLensModule.forRoot({ registrations: [{ namespace: 'shop', groups: ['orders'], presets: { default: ['orders'] } }] });
   * ```
   */
  static forRoot(options: NestLensModuleOptions = {}): DynamicModule {
    checkModuleOptions('NestLensModule.forRoot', options);
    const { introspection, ...others } = options;
    const registrations = options.registrations && readGiven(options.registrations, 'forRoot');
    return createRoot(introspection, { inject: [], read: () => ({ ...others, registrations }) });
  }

  /**
   * `forRoot` with options that are made asynchronously or from injected providers. Give `introspection` here, beside the
   * factory, because Nest has to know routes and guards before it can inject anything.
   *
   * @param options see {@link NestLensModuleAsyncOptions}
   * @throws TypeError for an option that is unknown or of a wrong type; NestLensError `RUNTIME_CONTROL_UNGUARDED` for
   * `runtimeControl` without guards. The options of the factory are checked when the application is made
   *
   * @example
   * ```ts
   * NestLensModule.forRootAsync({
   *   imports: [ConfigModule],
   *   inject: [ConfigService],
   *   useFactory: (config: ConfigService) => ({ config: { spanGroups: config.get('SPANS') } }),
   * });
   * ```
   */
  static forRootAsync(options: NestLensModuleAsyncOptions): DynamicModule {
    checkAsyncOptions('NestLensModule.forRootAsync', options);
    return createRoot(options.introspection, asyncSource(options), options.imports);
  }

  /**
   * Registers span groups of one module, in its `onModuleInit`. It works without `forRoot` too, and may be imported several
   * times with the same content.
   *
   * @param definitions see {@link SpanGroupDefinition}; `defineSpanGroups` makes typed ones
   *
   * @example
   * ```ts
   * @Module({ imports: [NestLensModule.forFeature({ namespace: 'cache', groups: ['cache_get', 'cache_set'] })] })
   * class CacheModule {}
   * ```
   */
  static forFeature(...definitions: SpanGroupDefinition<SpanGroupName>[]): DynamicModule {
    return NestLensFeatureModule.forDefinitions(readGiven(definitions, 'forFeature'));
  }
}

function readGiven(definitions: SpanGroupDefinition[], method: 'forRoot' | 'forFeature'): ReadDefinition[] {
  // eslint-disable-next-line @typescript-eslint/unbound-method -- looked for in the stack, never called
  return readDefinitions(definitions, `NestLensModule.${method}`, NestLensModule[method]);
}

let roots = 0;

/*
 * Nest's ConfigurableModuleBuilder doesn't fit, because it provides options as a value. With `snapshot: true` Nest writes
 * values down as JSON, which fails for a span processor; with an `instanceDecorator` it gives out a proxy of them. So options
 * stay in a function here, and no provided value is an object.
 */
function createRoot(
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
    module: NestLensModule,
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
      {
        provide: SpanRegistryService,
        inject: [ModulesContainer, ModuleRef],
        useFactory: (modules: ModulesContainer, module: ModuleRef) => lensAppOf(modules, module).spanRegistry,
      },
      { provide: SPAN_REGISTRY_SERVICE, useExisting: SpanRegistryService },
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
