import type { FactoryProvider, ModuleMetadata, Type } from '@nestjs/common';
import type { ClientErrors, NestLensConfig } from '../core/telemetry/config.js';
import type { InstrumentationGroupsOptions } from '../core/instrumentations/instrumentation-groups-options.js';
import type { SpanGroupName } from '../core/groups/span-group-names.js';
import type { SpanGroupDefinition } from '../core/groups/span-group-definition.js';
import type { SpanGroupSpecSource } from '../core/sources/span-group-spec-source.js';
import type { RequestOptInOptions } from '../core/opt-in/request-opt-in-options.js';
import type { SetupOptions } from '../core/telemetry/setup-options.js';
import type { AutoGroupsOptions } from './auto-groups/auto-groups-options.js';
import type { IntrospectionOptions } from './introspection/introspection-options.js';

/** Options of `NestLensModule.forRoot`. */
export interface NestLensModuleOptions {
  /** Span groups to register before the set-up. @defaultValue none */
  registrations?: SpanGroupDefinition<SpanGroupName>[];
  /** Configuration that overrides the environment, key by key. @defaultValue `{}` */
  config?: Partial<NestLensConfig>;
  /** The environment variables to read. @defaultValue prefix `NEST_LENS`, fallback prefix `NEMO_LENS` */
  env?: { prefix?: string; fallbackPrefix?: string };
  /** Your own exporters, processors and so on. @defaultValue `{}` */
  telemetry?: SetupOptions;
  /**
   * Makes every instrumentation of the process a span group, so that its spans obey the spec: `pg`, `http_server`. An object
   * sets the names of the groups and their presets. Without telemetry it has no effect.
   *
   * @defaultValue the variable `<prefix>_INSTRUMENTATION_GROUPS`, else false: their spans flow whatever the spec says
   */
  instrumentationGroups?: boolean | InstrumentationGroupsOptions;
  /**
   * The source of the spec while the process runs: a file, Redis, a feature flag. Its spec overrides the configured one; an
   * override stands above it. The same as `telemetry.specSource`. @defaultValue the file that `<prefix>_SPAN_GROUPS_FILE` names, else
   * none
   */
  specSource?: SpanGroupSpecSource;
  /**
   * Lets requests that carry a signed header, `x-lens-groups`, turn span groups on for themselves: `{ key, keys, allow,
   * propagate }`. `signSpanGroups` and `npx nest-lens sign` make such headers. The same as `telemetry.requestOptIn`.
   *
   * @defaultValue none: headers aren't read
   */
  requestOptIn?: RequestOptInOptions;
  /**
   * Puts undecorated methods into span groups: every handler, every enhancer, every method of the application's own
   * providers. Without it they stay as they are.
   *
   * @defaultValue none of them
   */
  autoGroups?: AutoGroupsOptions;
  /**
   * The time of the set-up. `bootstrap` is after every module's `onModuleInit`. `init` is after this module's own
   * registrations, for applications that register everything in `forRoot` and want spans from other modules' `onModuleInit`.
   * @defaultValue 'bootstrap'
   */
  setupAt?: 'bootstrap' | 'init';
  /**
   * The longest time, in milliseconds, that a closing application, or a process with nothing left to do, waits for the export
   * of spans. A value that isn't a number of 0 or more, such as NaN, counts as the default. @defaultValue 5000
   */
  shutdownTimeoutMs?: number;
  /**
   * The effect of an `HttpException` below 500 on the status of the spans that it passes: `unset` leaves it, `error` makes it
   * an error, except in HTTP and GraphQL handlers. The same as `config.clientErrors`. @defaultValue 'unset'
   */
  clientErrors?: ClientErrors;
  /**
   * Whether a thrown value makes a span an error; it is recorded either way. Use it for thrown control flow, such as BullMQ's
   * `DelayedError`. If it returns undefined, the rule decides. The same as `telemetry.isError`. @defaultValue undefined for
   * everything
   */
  isError?: (thrown: unknown) => boolean | undefined;
  /** The routes that show which groups are on and why; `false` for no routes. @defaultValue `{}` */
  introspection?: false | IntrospectionOptions;
}

/** The settings of the options for the set-up. Short forms are put into their places in `config` and `telemetry`. */
export function settingsOf({
  config,
  telemetry,
  clientErrors,
  isError,
  instrumentationGroups,
  specSource,
  requestOptIn,
}: NestLensModuleOptions): {
  config: Partial<NestLensConfig>;
  telemetry: SetupOptions;
} {
  return {
    config: { ...config, ...(clientErrors === undefined ? {} : { clientErrors }) },
    telemetry: {
      ...telemetry,
      ...(isError === undefined ? {} : { isError }),
      ...(instrumentationGroups === undefined ? {} : { instrumentationGroups }),
      ...(specSource === undefined ? {} : { specSource }),
      ...(requestOptIn === undefined ? {} : { requestOptIn }),
    },
  };
}

/**
 * The options from the factory of `NestLensModule.forRootAsync`: all but `introspection`, which decides the routes. The start
 * fails if the factory gives that too.
 */
export type NestLensAsyncOptions = Omit<NestLensModuleOptions, 'introspection'>;

/** A class that makes the options, for `useClass` and `useExisting`. */
export interface NestLensOptionsFactory {
  /** Called once, when the application is made. If it throws or rejects, the application doesn't start. */
  createNestLensOptions(): NestLensAsyncOptions | Promise<NestLensAsyncOptions>;
}

/** Options of `NestLensModule.forRootAsync`. One of `useFactory`, `useClass` and `useExisting` is needed. */
export interface NestLensModuleAsyncOptions extends Pick<ModuleMetadata, 'imports'> {
  /** Tokens for the parameters of `useFactory`. @defaultValue none */
  inject?: FactoryProvider['inject'];
  /** Makes the options from the providers that `inject` names. @defaultValue none */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- the parameters are what `inject` names, which the type can't know
  useFactory?: (...args: any[]) => NestLensAsyncOptions | Promise<NestLensAsyncOptions>;
  /** A class that makes the options; Nest makes an instance of it for this. @defaultValue none */
  useClass?: Type<NestLensOptionsFactory>;
  /** The same, but with an instance that a module in `imports`, or a global one, provides. @defaultValue none */
  useExisting?: Type<NestLensOptionsFactory>;
  /** It can't be injected, because Nest has to know routes and guards before. @defaultValue `{}` */
  introspection?: false | IntrospectionOptions;
}

/** Marks each `forRoot` of an application. It is a `Symbol.for`, so that copies of the package find each other's. */
export const NEST_LENS_ROOT = Symbol.for('nest-lens.root');
