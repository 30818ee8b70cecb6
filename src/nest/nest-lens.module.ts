import {
  type DynamicModule,
  Inject,
  Module,
  type NestModule,
  type OnModuleInit,
  Optional,
  type Provider,
} from '@nestjs/common';
import { ApplicationConfig, HttpAdapterHost, ModulesContainer } from '@nestjs/core';
import {
  type ReadDefinition,
  readDefinitions,
  type SpanGroupDefinition,
} from '../core/groups/span-group-definition.js';
import { createError, NestLensError } from '../core/diagnostics/errors.js';
import { ApplicationBoot } from './application-boot.js';
import { lensAppOf } from './lens-app.js';
import {
  createLensController,
  type LensControllerOptions,
  mapLensRoutes,
} from './introspection/lens.controller.js';
import { NestLensFeatureModule } from './nest-lens-feature.module.js';
import {
  NEST_LENS_OPTIONS,
  NEST_LENS_ROOT,
  type NestLensAsyncOptions,
  type NestLensModuleAsyncOptions,
  type NestLensModuleOptions,
  type NestLensOptionsFactory,
} from './nest-lens-options.js';
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
@Module({})
export class NestLensModule implements NestModule, OnModuleInit {
  /** @internal */
  constructor(
    @Optional() @Inject(TelemetryLifecycle) private readonly lifecycle: TelemetryLifecycle | undefined,
    @Inject(HttpAdapterHost) private readonly http: HttpAdapterHost,
  ) {}

  /** Nest calls it for the middleware of an HTTP application, before it registers routes. */
  configure(): void {
    this.lifecycle?.beforeRoutes(this.http.httpAdapter);
  }

  /** Nest calls it when the module's providers are initialised. With `setupAt: 'init'` telemetry is set up here. */
  async onModuleInit(): Promise<void> {
    await this.lifecycle?.afterRegistrations();
  }

  /**
   * Registers span groups, sets telemetry up when every module has registered its own, adds `GET /lens/groups`, and provides
   * `SpanRegistryService` everywhere. The environment is read at set-up. A failure of telemetry is logged and leaves every
   * group off; the application starts.
   *
   * Called again in the same application, only its registrations count.
   *
   * @param options see {@link NestLensModuleOptions}
   * @throws NestLensError `RUNTIME_CONTROL_UNGUARDED` for `runtimeControl` without guards
   *
   * @example
   * ```ts
   * NestLensModule.forRoot({ registrations: [{ namespace: 'shop', groups: ['orders'], presets: { default: ['orders'] } }] });
   * ```
   */
  static forRoot(options: NestLensModuleOptions = {}): DynamicModule {
    const registrations = options.registrations && readGiven(options.registrations, 'forRoot');
    const useValue = registrations === undefined ? options : { ...options, registrations };
    return createRoot(options.introspection, [{ provide: NEST_LENS_OPTIONS, useValue }]);
  }

  /**
   * `forRoot` with options that are made asynchronously or from injected providers. `introspection` is given here, beside
   * the factory: Nest has to know routes and guards before it can inject anything.
   *
   * @param options see {@link NestLensModuleAsyncOptions}
   * @throws NestLensError `RUNTIME_CONTROL_UNGUARDED` for `runtimeControl` without guards
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
    const root = createRoot(options.introspection, asyncOptionsProviders(options));
    return { ...root, imports: [...(root.imports ?? []), ...(options.imports ?? [])] };
  }

  /**
   * Registers span groups of one module, in its `onModuleInit`. Works without `forRoot` too, and may be imported several
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
  static forFeature(...definitions: SpanGroupDefinition[]): DynamicModule {
    return NestLensFeatureModule.forDefinitions(readGiven(definitions, 'forFeature'));
  }
}

function readGiven(definitions: SpanGroupDefinition[], method: 'forRoot' | 'forFeature'): ReadDefinition[] {
  // eslint-disable-next-line @typescript-eslint/unbound-method -- looked for in the stack, never called
  return readDefinitions(definitions, `NestLensModule.${method}`, NestLensModule[method]);
}

function createRoot(
  introspection: NestLensModuleOptions['introspection'],
  options: Provider[],
): DynamicModule {
  const route = routeOptions(introspection);
  const LensController = route === undefined ? undefined : createLensController(route);
  // No object: what makes instances may be told to put proxies before them.
  const mark = Symbol('nest-lens forRoot');
  return {
    module: NestLensModule,
    global: true,
    controllers: LensController === undefined ? [] : [LensController],
    providers: [
      ...options,
      { provide: NEST_LENS_ROOT, useValue: mark },
      {
        provide: TelemetryLifecycle,
        inject: [ModulesContainer, NEST_LENS_OPTIONS],
        useFactory: (modules: ModulesContainer, given: NestLensModuleOptions | undefined) =>
          new TelemetryLifecycle(lensAppOf(modules), given ?? {}, lensAppOf(modules).firstRoot() === mark),
      },
      {
        provide: ApplicationBoot,
        inject: [ModulesContainer, ApplicationConfig],
        useFactory: (modules: ModulesContainer, config: ApplicationConfig) => {
          const app = lensAppOf(modules);
          if (route !== undefined && LensController !== undefined && app.firstRoot() === mark) {
            mapLensRoutes(LensController, route);
          }
          return new ApplicationBoot(app, config);
        },
      },
      {
        provide: SpanRegistryService,
        inject: [ModulesContainer],
        useFactory: (modules: ModulesContainer) => lensAppOf(modules).spanRegistry,
      },
      { provide: SPAN_REGISTRY_SERVICE, useExisting: SpanRegistryService },
      SpanGroupInterceptor,
    ],
    exports: [SpanRegistryService, SPAN_REGISTRY_SERVICE, SpanGroupInterceptor],
  };
}

function routeOptions(
  introspection: NestLensModuleOptions['introspection'],
): LensControllerOptions | undefined {
  if (introspection === false) return undefined;
  const { path = 'lens', guards = [], runtimeControl = false } = introspection ?? {};
  if (runtimeControl && guards.length === 0) throw createError(NestLensError, 'RUNTIME_CONTROL_UNGUARDED');
  return { path, guards, runtimeControl };
}

function asyncOptionsProviders(options: NestLensModuleAsyncOptions): Provider[] {
  const { useFactory, useClass, useExisting, inject = [] } = options;
  if (useFactory !== undefined) {
    return [{ provide: NEST_LENS_OPTIONS, inject: inject as never[], useFactory }];
  }
  const factory = useClass ?? useExisting;
  if (factory === undefined) throw createError(NestLensError, 'NO_OPTIONS_FACTORY');
  return [
    ...(useClass === undefined ? [] : [useClass]),
    {
      provide: NEST_LENS_OPTIONS,
      inject: [factory],
      useFactory: (made: NestLensOptionsFactory): NestLensAsyncOptions | Promise<NestLensAsyncOptions> =>
        made.createNestLensOptions(),
    },
  ];
}
