import type { Type } from '@nestjs/common';

/**
 * Options of `autoGroups`: span groups for what nobody has decorated. Each of the first three is the name of a group; what is left out
 * stays as it is. A name that the application has registered is used as it is; others are registered under the namespace `auto`.
 *
 * @example
 * NestLensModule.forRoot({ autoGroups: { handlers: 'handlers', enhancers: 'pipeline', providers: 'services', exclude: [PriceTable] } });
 */
export interface AutoGroupsOptions {
  /**
   * The group of every handler that is in none: of controllers, gateways, resolvers and message patterns, scheduled jobs, event
   * listeners, processors of queues, and handlers of CQRS. It is in the presets `default` and `per_request`, unless the application
   * has registered it. @defaultValue none
   */
  handlers?: string;
  /**
   * The group of every guard, pipe, interceptor and exception filter: of `canActivate`, `transform`, `intercept`, `catch`. In no preset.
   * @defaultValue none
   */
  enhancers?: string;
  /**
   * The group of every method of every class provider of the application's own modules. Left alone: lifecycle hooks, accessors, symbols,
   * static and private methods, what factories and values give, and packages. In no preset. @defaultValue none
   */
  providers?: string;
  /** Classes of packages whose methods `providers` takes besides, or modules of packages, or the names of either. @defaultValue none */
  include?: Iterable<AutoGroupsTarget>;
  /** Classes that are left alone, or modules, with all that they declare, or the names of either. It wins. @defaultValue none */
  exclude?: Iterable<AutoGroupsTarget>;
}

/** A class, or the name of one. */
export type AutoGroupsTarget = string | Type<unknown> | (abstract new (...args: never[]) => unknown);
