import {
  type DynamicModule,
  Inject,
  Module,
  type NestModule,
  type OnModuleInit,
  Optional,
  Scope,
} from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import {
  type ReadDefinition,
  readDefinitions,
  type SpanGroupDefinition,
} from '../core/groups/span-group-definition.js';
import type { SpanGroupName } from '../core/groups/span-group-names.js';
import { createError, NestLensError } from '../core/diagnostics/errors.js';
import { ApplicationBoot } from './application-boot.js';
import { checkAsyncOptions, checkModuleOptions } from './check-module-options.js';
import { NestLensFeatureModule } from './nest-lens-feature.module.js';
import {
  NEST_LENS_ROOT,
  type NestLensModuleAsyncOptions,
  type NestLensModuleOptions,
} from './nest-lens-options.js';
import { asyncSource } from './options-source.js';
import { createRootModule } from './root-module.js';
import { NoSpanGroup } from './span-group/span-group.decorator.js';
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
   * `runtimeControl` without guards, `INTROSPECTION_UNGUARDED` for `page` or `recentTraces` without guards outside of
   * development and test
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
    return createRootModule(NestLensModule, introspection, {
      inject: [],
      read: () => ({ ...others, registrations }),
    });
  }

  /**
   * `forRoot` with options that are made asynchronously or from injected providers. Give `introspection` here, beside the
   * factory, because Nest has to know routes and guards before it can inject anything.
   *
   * @param options see {@link NestLensModuleAsyncOptions}
   * @throws TypeError for an option that is unknown or of a wrong type; NestLensError `RUNTIME_CONTROL_UNGUARDED` for
   * `runtimeControl` without guards, `INTROSPECTION_UNGUARDED` for `page` or `recentTraces` without guards outside of
   * development and test, `NO_OPTIONS_FACTORY`. The options of the factory are checked when the application is created
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
    return createRootModule(NestLensModule, options.introspection, asyncSource(options), options.imports);
  }

  /**
   * Registers span groups of one module, in its `onModuleInit`. It works without `forRoot` too, and may be imported several
   * times with the same content.
   *
   * @param definitions see {@link SpanGroupDefinition}; `defineSpanGroups` makes typed ones
   * @throws TypeError for a definition of a wrong type. If a definition can't be registered, such as a namespace that another
   * module has registered with other groups, the start of the application fails with a SpanRegistryError
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
