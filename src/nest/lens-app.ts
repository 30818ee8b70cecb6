import type { ModulesContainer } from '@nestjs/core';
import type { SpanGroupDefinition } from '../core/define-span-groups.js';
import { holdRegistration, releaseRegistration } from './held-registrations.js';
import { NEST_LENS_ROOT } from './nest-lens-options.js';
import { SpanRegistryService } from './span-registry.service.js';
import { SpanSites } from './span-sites.js';

/**
 * What belongs to one Nest application, however often the module is imported into it: its sites, its registry service, and
 * the registrations that it holds.
 */
export class LensApp {
  readonly sites: SpanSites;
  readonly spanRegistry: SpanRegistryService;
  /** Set by the first `forRoot` while its telemetry is live. */
  flushAhead: () => Promise<void> = () => Promise.resolve();
  private readonly held: string[] = [];

  constructor(private readonly modules: ModulesContainer) {
    this.sites = new SpanSites(modules);
    this.spanRegistry = new SpanRegistryService(this.sites);
  }

  register(definitions: Iterable<SpanGroupDefinition>): void {
    for (const definition of definitions) {
      if (holdRegistration(definition)) this.held.push(definition.namespace);
    }
  }

  releaseRegistrations(): void {
    for (const namespace of this.held.splice(0)) releaseRegistration(namespace);
  }

  /** The mark of the first `forRoot` in the order in which Nest scans modules: the one that sets up. */
  firstRoot(): object | undefined {
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
