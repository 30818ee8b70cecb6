import type { ApplicationConfig, ModulesContainer } from '@nestjs/core';
import type { HeldByApplication } from '../core/state/state-shape.js';
import { ApplicationHold, holdNothing } from './application-hold.js';
import { addEdgeHooks } from './edge-hooks.js';
import { SpanRegistryService } from './introspection/span-registry.service.js';
import { SpanSites } from './introspection/span-sites.js';
import { NEST_LENS_ROOT } from './nest-lens-options.js';
import { HttpRoutes } from './span-group/http-routes.js';

/** What every copy of the package knows of an application. */
interface AppRecord {
  readonly held: HeldByApplication;
  /** From when Nest has begun to call hooks: it calls none of a module that is loaded later. */
  hooksHaveBegun: boolean;
  routes: HttpRoutes | undefined;
}

const APP_RECORD = Symbol.for('nest-lens.app');

/** The copy of the package that makes the record also hears of the start and the end of the application. */
function recordOf(modules: ModulesContainer): AppRecord {
  const known = (modules as { [APP_RECORD]?: AppRecord })[APP_RECORD];
  if (known !== undefined) return known;
  const record: AppRecord = { held: holdNothing(), hooksHaveBegun: false, routes: undefined };
  Object.defineProperty(modules, APP_RECORD, { value: record });
  const hold = new ApplicationHold(record.held);
  addEdgeHooks(modules, {
    beforeInit() {
      record.hooksHaveBegun = true;
      if (hold.isClosing) Object.assign(record.held, holdNothing());
      record.routes?.publish();
    },
    beforeClose: () => hold.beginToClose(),
    async afterClose() {
      record.routes?.withdraw();
      await hold.release();
    },
  });
  return record;
}

/**
 * What belongs to one Nest application, however often the module is imported into it: its hold on the process, its sites, its
 * registry service and its routes.
 */
export class LensApp {
  readonly hold: ApplicationHold;
  readonly sites: SpanSites;
  readonly spanRegistry: SpanRegistryService;
  private root: { modules: number; mark: unknown } | undefined;
  private readonly record: AppRecord;

  constructor(private readonly modules: ModulesContainer) {
    this.record = recordOf(modules);
    this.hold = new ApplicationHold(this.record.held);
    this.sites = new SpanSites(modules, (Class, method) => this.record.routes?.of(Class, method) ?? []);
    this.spanRegistry = new SpanRegistryService(this.sites);
  }

  get hooksHaveBegun(): boolean {
    return this.record.hooksHaveBegun;
  }

  /** Tells the process which routes the application's controllers have, until it closes. */
  publishRoutes(config: ApplicationConfig): void {
    this.record.routes ??= new HttpRoutes(this.modules, config);
    this.record.routes.publish();
  }

  /**
   * The mark of the first `forRoot` in the order in which Nest scans modules: the one that sets up. Kept until a module is added:
   * each `forFeature` asks for it.
   */
  firstRoot(): unknown {
    if (this.root?.modules !== this.modules.size) {
      this.root = { modules: this.modules.size, mark: this.findRoot() };
    }
    return this.root.mark;
  }

  private findRoot(): unknown {
    for (const module of this.modules.values()) {
      const wrapper = module.providers.get(NEST_LENS_ROOT);
      if (wrapper !== undefined) return wrapper.instance;
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
