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
  /** Span groups to register before telemetry is set up. @defaultValue none */
  registrations?: SpanGroupDefinition<SpanGroupName>[];
  /** Beats the environment, key by key. @defaultValue `{}` */
  config?: Partial<NestLensConfig>;
  /** Which environment variables are read. @defaultValue prefix `NEST_LENS`, fallback prefix `NEMO_LENS` */
  env?: { prefix?: string; fallbackPrefix?: string };
  /** Exporters, processors and so on of your own. @defaultValue `{}` */
  telemetry?: SetupOptions;
  /**
   * Makes every instrumentation of the process a span group, so that its spans obey the spec: `pg`, `http_server`. An object says
   * how the groups are called and in which presets they are. Without telemetry nothing happens.
   *
   * @defaultValue what `<prefix>_INSTRUMENTATION_GROUPS` says, else false: their spans flow whatever the spec says
   */
  instrumentationGroups?: boolean | InstrumentationGroupsOptions;
  /**
   * Where the spec comes from while the process runs: a file, Redis, a feature flag. What it gives beats the configured spec; an
   * override beats it. Stands for `telemetry.specSource`. @defaultValue the file that `<prefix>_SPAN_GROUPS_FILE` names, else none
   */
  specSource?: SpanGroupSpecSource;
  /**
   * Lets requests that carry a signed header, `x-lens-groups`, turn span groups on for themselves: `{ key, keys, allow, propagate }`.
   * `signSpanGroups` and `npx nest-lens sign` make such headers. Stands for `telemetry.requestOptIn`.
   *
   * @defaultValue none: nobody looks at headers
   */
  requestOptIn?: RequestOptInOptions;
  /**
   * Puts what nobody has decorated into span groups: every handler, every enhancer, every method of the application's own providers.
   * Without it they are left as they are.
   *
   * @defaultValue none of them
   */
  autoGroups?: AutoGroupsOptions;
  /**
   * When telemetry is set up: `bootstrap`, after every module's `onModuleInit`; `init`, after this module's own
   * registrations, for applications that register everything in `forRoot` and want spans from other modules'
   * `onModuleInit`. @defaultValue 'bootstrap'
   */
  setupAt?: 'bootstrap' | 'init';
  /**
   * How long closing the application, or a process that has nothing left to do, waits for spans to be exported, in
   * milliseconds. What is no number from 0 up, such as NaN, counts as the default. @defaultValue 5000
   */
  shutdownTimeoutMs?: number;
  /**
   * What an `HttpException` below 500 does to the status of the spans that it passes: `unset` leaves it, `error` makes it an
   * error, except in HTTP and GraphQL handlers. Stands for `config.clientErrors`. @defaultValue 'unset'
   */
  clientErrors?: ClientErrors;
  /**
   * Whether a thrown value makes a span an error; it is recorded either way. For control flow that is thrown, such as BullMQ's
   * `DelayedError`. Undefined leaves it to the rule. Stands for `telemetry.isError`. @defaultValue undefined for everything
   */
  isError?: (thrown: unknown) => boolean | undefined;
  /** The route that says what is on and why; `false`: no route. @defaultValue `{}` */
  introspection?: false | IntrospectionOptions;
}

/** What the options say for the set-up, with those that stand for a part of `config` or `telemetry` in their places. */
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
 * What the factory of `NestLensModule.forRootAsync` gives: everything but `introspection`, which decides which routes there are.
 * The start fails if the factory gives that too.
 */
export type NestLensAsyncOptions = Omit<NestLensModuleOptions, 'introspection'>;

/** A class that makes the options, for `useClass` and `useExisting`. */
export interface NestLensOptionsFactory {
  /** Called once, when the application is made. What it throws, or rejects with, stops the application. */
  createNestLensOptions(): NestLensAsyncOptions | Promise<NestLensAsyncOptions>;
}

/** Options of `NestLensModule.forRootAsync`. One of `useFactory`, `useClass` and `useExisting` is needed. */
export interface NestLensModuleAsyncOptions extends Pick<ModuleMetadata, 'imports'> {
  /** Tokens for the parameters of `useFactory`. @defaultValue none */
  inject?: FactoryProvider['inject'];
  /** Makes the options from what `inject` names. @defaultValue none */
  // The parameters are what `inject` names, which the type can't know.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  useFactory?: (...args: any[]) => NestLensAsyncOptions | Promise<NestLensAsyncOptions>;
  /** A class that makes the options; an instance of its own is made for it. @defaultValue none */
  useClass?: Type<NestLensOptionsFactory>;
  /** The same, but an instance that a module in `imports`, or a global one, provides. @defaultValue none */
  useExisting?: Type<NestLensOptionsFactory>;
  /** Decided before anything can be injected: Nest has to know which routes and guards there are. @defaultValue `{}` */
  introspection?: false | IntrospectionOptions;
}

/** Marks one `forRoot` among those of an application. A `Symbol.for`, so that copies of the package find each other's. */
export const NEST_LENS_ROOT = Symbol.for('nest-lens.root');
