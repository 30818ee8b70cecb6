import { RequestMethod, VERSION_NEUTRAL, VersioningType } from '@nestjs/common';
import type { ApplicationConfig, ModulesContainer } from '@nestjs/core';

/** One route of a handler: `GET` and `/api/v1/orders/:id`, as Nest maps it. */
export interface HttpRoute {
  readonly verb: string;
  /** The full template: global prefix, version and module path included. */
  readonly template: string;
}

/** Where the routes of a controller class are known; an application adds its controllers when it is built. */
const routesOfClass = new WeakMap<object, HttpRoutes>();

/** The routes of a handler method of a class; none when no application with `NestLensModule` has the controller. */
export function httpRoutesOf(Class: object, method: object): readonly HttpRoute[] {
  return routesOfClass.get(Class)?.of(Class, method) ?? [];
}

/**
 * The routes of an application's controllers, told from Nest's metadata and configuration. They are computed when they are
 * asked for: global prefix and versioning may still be set after the application is built.
 */
export class HttpRoutes {
  private readonly modulePaths = new Map<object, string>();

  constructor(
    private readonly modules: ModulesContainer,
    private readonly config: ApplicationConfig,
  ) {}

  /** Makes the routes of the application's controllers known to {@link httpRoutesOf}. */
  publish(): void {
    for (const module of this.modules.values()) {
      const path: unknown =
        Reflect.getMetadata(`__module_path__${this.modules.applicationId}`, module.metatype) ??
        Reflect.getMetadata('__module_path__', module.metatype);
      for (const { metatype } of module.controllers.values()) {
        if (typeof metatype !== 'function') continue;
        routesOfClass.set(metatype, this);
        if (typeof path === 'string') this.modulePaths.set(metatype, path);
      }
    }
  }

  of(Class: object, method: object): HttpRoute[] {
    if (!Reflect.hasOwnMetadata('path', method)) return [];
    const verb = (Reflect.getMetadata('method', method) as RequestMethod | undefined) ?? RequestMethod.GET;
    const routes: HttpRoute[] = [];
    for (const version of this.versionsOf(Class, method)) {
      for (const controllerPath of pathsOf(Reflect.getMetadata('path', Class))) {
        for (const handlerPath of pathsOf(Reflect.getMetadata('path', method))) {
          const path = joinPath(this.modulePaths.get(Class) ?? '', controllerPath, handlerPath);
          const prefix = this.isExcluded(path, verb) ? '' : this.config.getGlobalPrefix();
          routes.push({ verb: RequestMethod[verb], template: joinPath(prefix, version, path) });
        }
      }
    }
    return routes;
  }

  /** The path segments of the versions that a handler has; one empty segment when versions aren't part of the path. */
  private versionsOf(Class: object, method: object): string[] {
    const versioning = this.config.getVersioning();
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

  private isExcluded(path: string, verb: RequestMethod): boolean {
    const excluded = this.config.getGlobalPrefixOptions().exclude ?? [];
    return excluded.some(
      ({ requestMethod, pathRegex }) =>
        (requestMethod === RequestMethod.ALL || requestMethod === verb) && pathRegex.test(path),
    );
  }
}

function pathsOf(path: unknown): string[] {
  return (Array.isArray(path) ? path : [path]).map((one) => (typeof one === 'string' ? one : ''));
}

function joinPath(...parts: string[]): string {
  const segments = parts.map((part) => part.replace(/^\/+|\/+$/g, '')).filter((part) => part !== '');
  return `/${segments.join('/')}`;
}
