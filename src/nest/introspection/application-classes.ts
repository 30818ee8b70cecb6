import { ApplicationConfig, type ModulesContainer } from '@nestjs/core';
import { types } from 'node:util';
import type { AnyClass } from '../span-group/gated-class.js';
import type { ScannedClass } from '../span-group/scanned-class.js';

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

/** The classes of the guards, pipes, interceptors and filters that the application has made itself and bound as instances. */
export function classesOfBoundInstances(
  modules: ModulesContainer,
  classes: Iterable<ScannedClass>,
): Set<AnyClass> {
  const found = new Set<AnyClass>();
  const instances = globalEnhancers(modules);
  for (const scan of classes) {
    // Nest reads these marks on handler classes alone. Measured: without this check, listing the sites of a thousand
    // providers takes twice as long.
    if (!scan.isHandlerClass) continue;
    const { Class } = scan;
    instances.push(...boundTo(Class, scan.keys));
    for (const { name, method, keys } of scan.methods) {
      instances.push(...boundTo(method, keys));
      instances.push(...parameterPipes(Class, name));
    }
  }
  for (const instance of instances) addClass(found, classOfInstance(instance));
  return found;
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
const ENHANCER_MARKS = ['__guards__', '__interceptors__', '__pipes__', '__exceptionFilters__'];

/** Measured: most classes and methods have nothing bound to them, and asking for all four marks takes four times as long. */
function boundTo(bearer: object, keys: readonly unknown[]): unknown[] {
  const marks = ENHANCER_MARKS.filter((mark) => keys.includes(mark));
  return marks.flatMap((mark) => (Reflect.getMetadata(mark, bearer) as unknown[] | undefined) ?? []);
}

/** The pipes after the name in `@Param('id', new ParseIntPipe())`. */
function parameterPipes(Class: AnyClass, method: string): unknown[] {
  const parameters = Reflect.getMetadata('__routeArguments__', Class, method) as object | undefined;
  return Object.values(parameters ?? {}).flatMap(({ pipes }: { pipes?: unknown[] }) => pipes ?? []);
}

/** The class of an object, found without reading any of its properties. */
function classOfInstance(instance: unknown): unknown {
  if (typeof instance !== 'object' || instance === null || types.isProxy(instance)) return undefined;
  const prototype = Object.getPrototypeOf(instance) as object | null;
  if (prototype === null || types.isProxy(prototype)) return undefined;
  return Object.getOwnPropertyDescriptor(prototype, 'constructor')?.value;
}
