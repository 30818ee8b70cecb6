import type { Type } from '@nestjs/common';
import type { ApplicationConfig, ModuleRef, ModulesContainer } from '@nestjs/core';
import { abandonBoot, beginBoot } from '../core/groups/boot-registrations.js';
import type { HeldByApplication } from '../core/state/held-by-application.js';
import { ApplicationHold, holdNothing } from './application-hold.js';
import { AutoGroups } from './auto-groups/auto-groups.js';
import { registerAutoGroups } from './auto-groups/auto-registration.js';
import { addStartAndCloseHooks } from './start-and-close-hooks.js';
import type { AskedOfTelemetry } from './ignored-options.js';
import type { Endpoint } from './introspection/introspection-options.js';
import { Previews } from './introspection/previews.js';
import { SpanRegistryService } from './introspection/span-registry.service.js';
import { SpanSites } from './introspection/span-sites.js';
import { NEST_LENS_ROOT, type NestLensModuleOptions } from './nest-lens-options.js';
import { modulesContainerOf } from '../core/private-fields/private-fields.js';
import { HttpRoutes } from './span-group/http-routes.js';
import { LentGates } from './span-group/lent-gates.js';
import { lendModuleGroups } from './span-group/module-groups.js';

/** The record of an application that every copy of the package shares. */
interface AppRecord {
  readonly held: HeldByApplication;
  /** Whether Nest has begun to call hooks. It calls none of a module that is loaded later. */
  hooksHaveBegun: boolean;
  routes: HttpRoutes | undefined;
  /** The gates of methods whose module class is decorated, or that `autoGroups` has found. */
  readonly gates: LentGates;
  areClassesGated: boolean;
  /** The endpoints, by the mark of their `forRoot`. */
  readonly endpoints: Map<symbol, Endpoint>;
  /** The endpoint whose routes are mapped. */
  kept: Endpoint | undefined;
  /** The telemetry options of the first `forRoot`. */
  asked: AskedOfTelemetry | undefined;
  /** Functions to call when the application begins to close. */
  readonly closing: Set<() => void>;
}

/** Takes back what an application has left when it is out of memory: one whose start fails is never closed. */
const collected = new FinalizationRegistry((gates: LentGates) => gates.takeBack());

const APP_RECORD = Symbol.for('nest-lens.app');

/** The copy of the package that makes the record also gets the hooks for the start and the end of the application. */
function recordOf(modules: ModulesContainer): AppRecord {
  const known = (modules as { [APP_RECORD]?: AppRecord })[APP_RECORD];
  if (known !== undefined) return known;
  const record: AppRecord = {
    held: holdNothing(),
    hooksHaveBegun: false,
    routes: undefined,
    gates: new LentGates(modules),
    areClassesGated: false,
    endpoints: new Map(),
    kept: undefined,
    asked: undefined,
    closing: new Set(),
  };
  Object.defineProperty(modules, APP_RECORD, { value: record });
  collected.register(modules, record.gates);
  const hold = new ApplicationHold(record.held);
  addStartAndCloseHooks(modules, {
    beforeInit() {
      record.hooksHaveBegun = true;
      if (hold.isClosing) {
        // It starts again after its close.
        Object.assign(record.held, holdNothing());
        beginBoot(record.held);
      }
      record.routes?.publish();
    },
    beforeClose() {
      hold.beginToClose();
      abandonBoot(record.held);
      for (const close of record.closing) close();
    },
    async afterClose() {
      record.routes?.withdraw();
      record.gates.takeBack();
      record.areClassesGated = false;
      await hold.release();
    },
  });
  return record;
}

/**
 * The objects of one Nest application: its hold on the process, its sites, its registry service and its routes. There is one
 * of each, also if the module is imported several times.
 */
export class LensApp {
  readonly hold: ApplicationHold;
  readonly sites: SpanSites;
  readonly spanRegistry: SpanRegistryService;
  /** Set once the options are known. */
  private autoGroups: AutoGroups | undefined;
  readonly previews: Previews;
  private known: { modules: number; marks: readonly symbol[] } | undefined;
  readonly record: AppRecord;

  constructor(private readonly modules: ModulesContainer) {
    this.record = recordOf(modules);
    this.hold = new ApplicationHold(this.record.held);
    this.sites = new SpanSites(modules, (Class, method) => this.record.routes?.of(Class, method) ?? []);
    this.spanRegistry = new SpanRegistryService(this.sites);
    this.previews = new Previews(this.sites, () => this.hold.isClosing);
    this.record.closing.add(() => this.previews.end());
  }

  /** Called when a module of ours is made. */
  beginBoot(): void {
    beginBoot(this.record.held);
  }

  /**
   * Gates methods because of decorators on base classes and modules. Nest keeps the methods that it finds when it maps
   * routes, so this runs while providers are made. It runs before `autoGroups`, which takes the remaining methods.
   */
  gateClasses(): void {
    if (this.record.areClassesGated) return;
    this.record.areClassesGated = true;
    this.sites.gateInherited();
    lendModuleGroups(this.modules, this.record.gates);
  }

  /** Puts undecorated methods into the groups of `autoGroups`. */
  async gateTheRest({ autoGroups, registrations = [] }: NestLensModuleOptions): Promise<void> {
    if (autoGroups === undefined) return;
    this.gateClasses();
    // A generator can be read only once.
    const registered = registrations.flatMap(({ groups }) =>
      Array.isArray(groups) ? (groups as string[]) : [],
    );
    this.autoGroups = new AutoGroups(autoGroups, this.modules, this.record.gates, registered);
    await this.autoGroups.lend();
  }

  /** Called before routes are mapped. An application that starts again has given its gates back when it closed. */
  gateAgain(): void {
    if (this.record.areClassesGated) return;
    this.gateClasses();
    this.autoGroups?.lendAgain();
  }

  /** Called when the application's own registrations are known. */
  registerAutoGroups(): void {
    if (this.autoGroups !== undefined) registerAutoGroups(this.record.held, this.autoGroups.groups);
  }

  /** Called before routes are mapped, when the application has bound its global enhancers. */
  gateGlobalEnhancers(): void {
    this.autoGroups?.lendGlobalEnhancers();
  }

  /** Publishes the routes of the application's controllers in the process, until it closes. */
  publishRoutes(config: ApplicationConfig): void {
    this.record.routes ??= new HttpRoutes(this.modules, config);
    this.record.routes.publish();
  }

  /** The marks of the calls of `forRoot`, in the order in which Nest scans modules. The first one sets up. */
  get roots(): readonly symbol[] {
    const { size } = this.modules;
    // Kept until a module is added, because each `forFeature` reads it.
    if (this.known?.modules !== size) {
      const found = [...this.modules.values()].map(
        ({ providers }) => providers.get(NEST_LENS_ROOT)?.instance,
      );
      this.known = { modules: size, marks: found.filter((mark) => typeof mark === 'symbol') };
    }
    return this.known.marks;
  }

  /** The endpoints of the calls of `forRoot`, in the same order. */
  get endpoints(): readonly Endpoint[] {
    return this.roots.flatMap((mark) => this.record.endpoints.get(mark) ?? []);
  }

  removeControllers(removed: readonly Type<object>[]): void {
    for (const { controllers } of this.modules.values()) {
      for (const Controller of removed) controllers.delete(Controller);
    }
  }
}

const apps = new WeakMap<ModulesContainer, LensApp>();

/**
 * The application of a container of modules. Nest has one container per application.
 *
 * @param module the `ModuleRef` of any module of the application
 */
export function lensAppOf(given: ModulesContainer, module: ModuleRef): LensApp {
  const modules = modulesContainerOf(given, module);
  let app = apps.get(modules);
  if (app === undefined) {
    app = new LensApp(modules);
    apps.set(modules, app);
  }
  return app;
}
