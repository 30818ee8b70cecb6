import { RequestMethod, VERSION_NEUTRAL, VersioningType } from '@nestjs/common';
import type { ApplicationConfig, ModulesContainer } from '@nestjs/core';
import { processState } from '../../core/state/process-state.js';

/** One route of a handler: `GET` and `/api/v1/orders/:id`, in Nest's form. */
export interface HttpRoute {
  readonly verb: string;
  /** The full template, with global prefix, version and module path. */
  readonly template: string;
}

/** One application, as the source of its routes: Nest's own objects, so that any copy of the package can read them. */
export interface RouteSource {
  readonly modules: ModulesContainer;
  readonly config: ApplicationConfig;
}

/**
 * The routes of a handler method of a class, in every application of the process that has the controller; none without
 * `NestLensModule`. Global prefix and versioning may be set after the application is built, so call it when the application
 * serves.
 */
export function httpRoutesOf(Class: object, method: object): readonly HttpRoute[] {
  return distinctRoutes(liveSources().flatMap((source) => routesIn(source, Class, method)));
}

/** One application's routes, published from its build to its close. */
export class HttpRoutes {
  private readonly source: RouteSource;
  private readonly published: WeakRef<RouteSource>;

  constructor(modules: ModulesContainer, config: ApplicationConfig) {
    this.source = { modules, config };
    this.published = new WeakRef(this.source);
  }

  publish(): void {
    processState.routeSources.add(this.published);
    processState.routesEpoch++;
  }

  withdraw(): void {
    processState.routeSources.delete(this.published);
    processState.routesEpoch++;
  }

  /** The routes of a handler in this application. */
  of(Class: object, method: object): readonly HttpRoute[] {
    return distinctRoutes(routesIn(this.source, Class, method));
  }
}

/** The applications that run `NestLensModule` now. */
export function liveSources(): RouteSource[] {
  const sources: RouteSource[] = [];
  for (const published of processState.routeSources as Set<WeakRef<RouteSource>>) {
    const source = published.deref();
    if (source === undefined) processState.routeSources.delete(published);
    else sources.push(source);
  }
  return sources;
}

function distinctRoutes(routes: readonly HttpRoute[]): readonly HttpRoute[] {
  return [...new Map(routes.map((route) => [`${route.verb} ${route.template}`, route])).values()];
}

/**
 * Controller -> the modules that have it, for each application. Measured: it is computed when a route is first needed,
 * because reading a thousand controllers takes a millisecond, which a boot with every group off needn't pay.
 */
const modulesOfControllers = new WeakMap<RouteSource, Map<object, Set<object>>>();

function modulesOfController(source: RouteSource, Class: object): Iterable<object> {
  let found = modulesOfControllers.get(source);
  if (found === undefined) {
    found = new Map();
    for (const module of source.modules.values()) {
      for (const { metatype } of module.controllers.values()) {
        if (typeof metatype !== 'function') continue;
        const known = found.get(metatype);
        if (known === undefined) found.set(metatype, new Set([module.metatype]));
        else known.add(module.metatype);
      }
    }
    modulesOfControllers.set(source, found);
  }
  return found.get(Class) ?? [];
}

function routesIn(source: RouteSource, Class: object, method: object): HttpRoute[] {
  if (!Reflect.hasOwnMetadata('path', method)) return [];
  return [...modulesOfController(source, Class)].flatMap((module) =>
    routesOf(source.config, modulePathOf(source, module), Class, method),
  );
}

/** The prefix of `RouterModule` for a module's controllers. */
function modulePathOf({ modules }: RouteSource, module: object): string {
  const path: unknown =
    Reflect.getMetadata(`__module_path__${modules.applicationId}`, module) ??
    Reflect.getMetadata('__module_path__', module);
  return typeof path === 'string' ? path : '';
}

function routesOf(config: ApplicationConfig, modulePath: string, Class: object, method: object): HttpRoute[] {
  const verb = (Reflect.getMetadata('method', method) as RequestMethod | undefined) ?? RequestMethod.GET;
  const routes: HttpRoute[] = [];
  for (const version of versionsOf(config, Class, method)) {
    for (const controllerPath of pathsOf(Reflect.getMetadata('path', Class))) {
      for (const handlerPath of pathsOf(Reflect.getMetadata('path', method))) {
        const path = joinPath(modulePath, controllerPath, handlerPath);
        const prefix = isExcluded(config, path, verb) ? '' : config.getGlobalPrefix();
        routes.push({ verb: RequestMethod[verb], template: joinPath(prefix, version, path) });
      }
    }
  }
  return routes;
}

/** The path segments of a handler's versions; one empty segment if versions aren't part of the path. */
function versionsOf(config: ApplicationConfig, Class: object, method: object): string[] {
  const versioning = config.getVersioning();
  if (versioning?.type !== VersioningType.URI) return [''];
  const versions: unknown =
    Reflect.getMetadata('__version__', method) ??
    Reflect.getMetadata('__version__', Class) ??
    versioning.defaultVersion;
  if (versions === undefined) return [''];
  const prefix = versioning.prefix === false ? '' : (versioning.prefix ?? 'v');
  return (Array.isArray(versions) ? versions : [versions]).map((version) =>
    version === VERSION_NEUTRAL ? '' : `${prefix}${String(version)}`,
  );
}

function isExcluded(config: ApplicationConfig, path: string, verb: RequestMethod): boolean {
  const excluded = config.getGlobalPrefixOptions().exclude ?? [];
  return excluded.some(
    ({ requestMethod, pathRegex }) =>
      (requestMethod === RequestMethod.ALL || requestMethod === verb) && pathRegex.test(path),
  );
}

function pathsOf(path: unknown): string[] {
  return (Array.isArray(path) ? path : [path]).map((one) => (typeof one === 'string' ? one : ''));
}

function joinPath(...parts: string[]): string {
  const segments = parts.map((part) => part.replace(/^\/+|\/+$/g, '')).filter((part) => part !== '');
  return `/${segments.join('/')}`;
}
