import { ApplicationConfig, type ModulesContainer } from '@nestjs/core';
import { types } from 'node:util';
import { classMethods } from '../span-group/class-methods.js';
import type { AnyClass } from '../span-group/gated-class.js';
import { isHandlerClass } from '../span-group/handler-kind.js';

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
  classes: ReadonlySet<AnyClass>,
): Set<AnyClass> {
  const found = new Set<AnyClass>();
  const instances = globalEnhancers(modules);
  for (const Class of classes) {
    // Nest reads these marks on handler classes alone. Measured: without this check, listing the sites of a thousand
    // providers takes twice as long.
    if (!isHandlerClass(Class)) continue;
    instances.push(...boundTo(Class));
    for (const { name, method } of classMethods(Class.prototype as object)) {
      // Measured: most handlers have nothing bound to them, and reading all four marks takes four times as long.
      if (hasBound(method)) instances.push(...boundTo(method));
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

function hasBound(method: object): boolean {
  return Reflect.getOwnMetadataKeys(method).some((key) => ENHANCER_MARKS.includes(key as string));
}

function boundTo(bearer: object): unknown[] {
  return ENHANCER_MARKS.flatMap((mark) => (Reflect.getMetadata(mark, bearer) as unknown[] | undefined) ?? []);
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
