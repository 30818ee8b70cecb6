import { ApplicationConfig, type ModulesContainer } from '@nestjs/core';
import { types } from 'node:util';
import { type AnyClass, classOfPrototype } from '../span-group/class-methods.js';
import { ScannedClass } from '../span-group/scanned-class.js';

/**
 * The classes that Nest makes instances of for an application: controllers, providers, middleware, and the guards, pipes,
 * interceptors and filters that are bound by their class. It reads no instance, because that may be a proxy.
 */
export function applicationClasses(modules: ModulesContainer): Set<AnyClass> {
  const classes = new Set<AnyClass>();
  for (const { controllers, providers, injectables, middlewares } of modules.values()) {
    for (const wrappers of [controllers, providers, injectables, middlewares]) {
      for (const wrapper of wrappers.values()) {
        addClass(classes, wrapper.isNotMetatype ? classOfInstance(wrapper.instance) : wrapper.metatype);
      }
    }
  }
  return classes;
}

/**
 * The guards, pipes, interceptors and filters that an application has made itself and bound: to the whole application, and to
 * the classes that are added.
 */
export class BoundInstances {
  private readonly instances: unknown[];

  constructor(modules: ModulesContainer) {
    this.instances = globalEnhancers(modules);
  }

  add(scan: ScannedClass): void {
    // Nest reads these marks on handler classes alone. Measured: without this check, listing the sites of a thousand
    // providers takes twice as long.
    if (!scan.isHandlerClass) return;
    const { Class } = scan;
    this.addBoundTo(Class, scan.keys);
    for (const { name, method, keys } of scan.methods) {
      this.addBoundTo(method, keys);
      this.addParameterPipes(scan, name);
    }
  }

  classes(): Set<AnyClass> {
    const found = new Set<AnyClass>();
    for (const instance of this.instances) addClass(found, classOfInstance(instance));
    return found;
  }

  private addBoundTo(bearer: object, keys: readonly unknown[]): void {
    for (const mark of keys.filter(isEnhancerMark)) {
      this.instances.push(...((Reflect.getMetadata(mark, bearer) as unknown[] | undefined) ?? []));
    }
  }

  /** The pipes after the name in `@Param('id', new ParseIntPipe())`. */
  private addParameterPipes(scan: ScannedClass, method: string): void {
    const parameters = scan.metadataOf(method, '__routeArguments__') as object | undefined;
    if (parameters === undefined) return;
    for (const { pipes } of Object.values(parameters) as { pipes?: unknown[] }[]) {
      this.instances.push(...(pipes ?? []));
    }
  }
}

/** The classes of an application, and those of the enhancers that it has made itself. */
export function applicationAndBoundClasses(modules: ModulesContainer): Set<AnyClass> {
  const classes = applicationClasses(modules);
  const bound = new BoundInstances(modules);
  for (const Class of classes) bound.add(new ScannedClass(Class));
  return new Set([...classes, ...bound.classes()]);
}

function addClass(classes: Set<AnyClass>, Class: unknown): void {
  if (typeof Class !== 'function' || types.isProxy(Class)) return;
  if (typeof Class.prototype === 'object' && Class.prototype !== null) classes.add(Class as AnyClass);
}

/** The global enhancers of `app.useGlobalGuards()` and the like. Each module knows the configuration of its application. */
function globalEnhancers(modules: ModulesContainer): unknown[] {
  const [module] = modules.values();
  const config = module?.providers.get(ApplicationConfig)?.instance as ApplicationConfig | undefined;
  if (config === undefined) return [];
  return [
    ...config.getGlobalGuards(),
    ...config.getGlobalInterceptors(),
    ...config.getGlobalPipes(),
    ...config.getGlobalFilters(),
  ];
}

/** Nest's marks for the classes and instances that `@UseGuards()` and the like have bound to a class or a method. */
const ENHANCER_MARKS: ReadonlySet<unknown> = new Set([
  '__guards__',
  '__interceptors__',
  '__pipes__',
  '__exceptionFilters__',
]);

function isEnhancerMark(key: unknown): boolean {
  return ENHANCER_MARKS.has(key);
}

/** The class of an object, found without reading any of its properties. */
function classOfInstance(instance: unknown): unknown {
  if (typeof instance !== 'object' || instance === null || types.isProxy(instance)) return undefined;
  const prototype = Object.getPrototypeOf(instance) as object | null;
  if (prototype === null || types.isProxy(prototype)) return undefined;
  return classOfPrototype(prototype);
}
