import type { Type } from '@nestjs/common';

/**
 * Options of `autoGroups`: span groups for undecorated methods. Each of the first three options is the name of a group;
 * methods of an option that is left out stay ungated. A name that the application has registered is used as it is. Other
 * names are registered under the namespace `auto`.
 *
 * @example
 * NestLensModule.forRoot({ autoGroups: { handlers: 'handlers', enhancers: 'pipeline', providers: 'services', exclude: [PriceTable] } });
 */
export interface AutoGroupsOptions {
  /**
   * The group of every handler without a group: of controllers, gateways, resolvers and message patterns, scheduled jobs,
   * event listeners, processors of queues, and handlers of CQRS. It is in the presets `default` and `per_request`, unless the
   * application has registered it. @defaultValue none
   */
  handlers?: string;
  /**
   * The group of every guard, pipe, interceptor and exception filter: of `canActivate`, `transform`, `intercept`, `catch`. In no preset.
   * @defaultValue none
   */
  enhancers?: string;
  /**
   * The group of every method of every class provider of the application's own modules. It leaves out lifecycle hooks,
   * accessors, symbols, static and private methods, objects from factories and values, and packages. In no preset.
   * @defaultValue none
   */
  providers?: string;
  /**
   * Classes of packages, or modules of packages, whose methods `providers` also takes, or the names of either. @defaultValue
   * none
   */
  include?: Iterable<AutoGroupsTarget>;
  /**
   * Classes to leave out, or modules with everything that they declare, or the names of either. It wins over the other
   * options. @defaultValue none
   */
  exclude?: Iterable<AutoGroupsTarget>;
}

/** A class, or the name of one. */
export type AutoGroupsTarget = string | Type<unknown> | (abstract new (...args: never[]) => unknown);
