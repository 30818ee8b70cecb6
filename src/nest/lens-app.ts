import type { ApplicationConfig, ModulesContainer } from '@nestjs/core';
import type { SpanGroupDefinition } from '../core/groups/span-group-definition.js';
import { holdRegistration, releaseRegistration } from './held-registrations.js';
import { HttpRoutes } from './span-group/http-routes.js';
import { NEST_LENS_ROOT } from './nest-lens-options.js';
import { SpanRegistryService } from './introspection/span-registry.service.js';
import { SpanSites } from './introspection/span-sites.js';

/** What every copy of the package knows of an application. */
interface AppRecord {
  /** The namespaces that it holds. */
  readonly held: string[];
  /** Its modules have had their hooks; those of a module that is loaded lazily from here on never run. */
  hasStarted: boolean;
}

const APP_RECORD = Symbol.for('nest-lens.app');

function recordOf(modules: ModulesContainer): AppRecord {
  const found = (modules as { [APP_RECORD]?: AppRecord })[APP_RECORD];
  if (found !== undefined) return found;
  const record: AppRecord = { held: [], hasStarted: false };
  Object.defineProperty(modules, APP_RECORD, { value: record });
  return record;
}

/**
 * What belongs to one Nest application, however often the module is imported into it: its sites, its registry service, its
 * routes, and the registrations that it holds.
 */
export class LensApp {
  readonly sites: SpanSites;
  readonly spanRegistry: SpanRegistryService;
  /** Set by the first `forRoot` while its telemetry is live. */
  flushAhead: () => Promise<void> = () => Promise.resolve();
  private routes: HttpRoutes | undefined;
  private root: { modules: number; mark: object | undefined } | undefined;
  private readonly record: AppRecord;

  constructor(private readonly modules: ModulesContainer) {
    this.record = recordOf(modules);
    this.sites = new SpanSites(modules, (Class, method) => this.routes?.of(Class, method) ?? []);
    this.spanRegistry = new SpanRegistryService(this.sites);
  }

  get hasStarted(): boolean {
    return this.record.hasStarted;
  }

  markStarted(): void {
    this.record.hasStarted = true;
  }

  register(definitions: Iterable<SpanGroupDefinition>): void {
    for (const definition of definitions) {
      if (holdRegistration(definition)) this.record.held.push(definition.namespace);
    }
  }

  publishRoutes(config: ApplicationConfig): void {
    this.routes ??= new HttpRoutes(this.modules, config);
    this.routes.publish();
  }

  /** Gives up what the process knows of the application, when it closes. */
  release(): void {
    this.routes?.withdraw();
    for (const namespace of this.record.held.splice(0)) releaseRegistration(namespace);
  }

  /**
   * The mark of the first `forRoot` in the order in which Nest scans modules: the one that sets up. Kept until a module is added:
   * each `forFeature` asks for it.
   */
  firstRoot(): object | undefined {
    if (this.root?.modules !== this.modules.size) {
      this.root = { modules: this.modules.size, mark: this.findRoot() };
    }
    return this.root.mark;
  }

  private findRoot(): object | undefined {
    for (const module of this.modules.values()) {
      const wrapper = module.providers.get(NEST_LENS_ROOT);
      if (wrapper !== undefined) return wrapper.instance as object;
    }
    return undefined;
  }
}

const apps = new WeakMap<ModulesContainer, LensApp>();

/** The application that a container of modules belongs to; Nest has one container per application. */
export function lensAppOf(modules: ModulesContainer): LensApp {
  let app = apps.get(modules);
  if (app === undefined) {
    app = new LensApp(modules);
    apps.set(modules, app);
  }
  return app;
}
