import { RequestMethod, VERSION_NEUTRAL, VersioningType } from '@nestjs/common';
import type { ApplicationConfig, ModulesContainer } from '@nestjs/core';
import { processState } from '../core/process-state.js';

/** One route of a handler: `GET` and `/api/v1/orders/:id`, as Nest maps it. */
export interface HttpRoute {
  readonly verb: string;
  /** The full template: global prefix, version and module path included. */
  readonly template: string;
}

/** What one application's routes of a controller follow from: Nest's own objects, so that any copy of the package can tell. */
interface RouteSource {
  readonly config: ApplicationConfig;
  readonly module: object;
  /** What `RouterModule` puts before the paths of a module's controllers. */
  readonly modulePath: string;
}

const ROUTE_SOURCES_METADATA = 'nest-lens:route-sources';

function routeSourcesOf(Class: object): readonly RouteSource[] {
  return (Reflect.getOwnMetadata(ROUTE_SOURCES_METADATA, Class) as RouteSource[] | undefined) ?? [];
}

function setRouteSources(Class: object, sources: readonly RouteSource[]): void {
  Reflect.defineMetadata(ROUTE_SOURCES_METADATA, sources, Class);
}

/**
 * The routes of a handler method of a class, in every application of the process that has the controller; none without
 * `NestLensModule`. Global prefix and versioning may be set after the application is built, so ask when it serves.
 */
export function httpRoutesOf(Class: object, method: object): readonly HttpRoute[] {
  return routesOfAll(routeSourcesOf(Class), Class, method);
}

function routesOfAll(sources: readonly RouteSource[], Class: object, method: object): readonly HttpRoute[] {
  const routes = new Map<string, HttpRoute>();
  for (const source of sources) {
    for (const route of routesOf(source, Class, method)) routes.set(`${route.verb} ${route.template}`, route);
  }
  return [...routes.values()];
}

/** The controllers of one application, whose routes are known from when it is built until it is closed. */
export class HttpRoutes {
  private readonly sources = new Map<object, readonly RouteSource[]>();

  constructor(
    private readonly modules: ModulesContainer,
    private readonly config: ApplicationConfig,
  ) {}

  publish(): void {
    for (const module of this.modules.values()) {
      for (const { metatype } of module.controllers.values()) {
        if (typeof metatype !== 'function') continue;
        const known = this.sources.get(metatype) ?? [];
        if (known.some((source) => source.module === module.metatype)) continue;
        const source = this.sourceIn(module.metatype);
        this.sources.set(metatype, [...known, source]);
        setRouteSources(metatype, [...routeSourcesOf(metatype), source]);
      }
    }
    processState.routesEpoch = (processState.routesEpoch ?? 0) + 1;
  }

  withdraw(): void {
    for (const [Class, sources] of this.sources) {
      setRouteSources(
        Class,
        routeSourcesOf(Class).filter((source) => !sources.includes(source)),
      );
    }
    this.sources.clear();
    processState.routesEpoch = (processState.routesEpoch ?? 0) + 1;
  }

  /** The routes of a handler in this application. */
  of(Class: object, method: object): readonly HttpRoute[] {
    return routesOfAll(this.sources.get(Class) ?? [], Class, method);
  }

  private sourceIn(module: object): RouteSource {
    const { applicationId } = this.modules;
    return {
      config: this.config,
      module,
      // Asked for late: Nest may make `RouterModule` after ours.
      get modulePath() {
        const path: unknown =
          Reflect.getMetadata(`__module_path__${applicationId}`, module) ??
          Reflect.getMetadata('__module_path__', module);
        return typeof path === 'string' ? path : '';
      },
    };
  }
}

function routesOf({ config, modulePath }: RouteSource, Class: object, method: object): HttpRoute[] {
  if (!Reflect.hasOwnMetadata('path', method)) return [];
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

/** The path segments of the versions that a handler has; one empty segment when versions aren't part of the path. */
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
