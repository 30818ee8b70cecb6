import type { AnyFunction } from '../../core/spans/gated-function.js';
import { createError, NestLensError } from '../../core/diagnostics/errors.js';
import { normaliseName } from '../../core/groups/span-group-spec.js';
import { type ClassMethod, classMethods } from './class-methods.js';
import { type GatedMethod, gatedMethodOf, gateMethod, ungateMethod } from './gated-method.js';
import { handlerType, isHandlerClass } from './handler-kind.js';
import type { MethodSite } from './handler-span.js';
import {
  ownSpanGroup,
  setSpanGroupMetadata,
  type SpanGroupMetadata,
  type SpanGroupOptions,
} from './span-group-metadata.js';

type AnyClass = abstract new (...args: never[]) => unknown;

/**
 * Puts a method behind the gate of a span group: each call is a span while the group is on, and goes straight through
 * while it is off (one field is read, nothing is allocated). It works on handlers of every context type and on any other
 * method, with or without `NestLensModule`; without it the group is never on, unless the application sets up by itself.
 *
 * On a class: each handler of a controller, gateway or resolver, inherited ones too; each own method of any other
 * provider. A method's own `@SpanGroup` or `@NoSpanGroup` wins over its class's. Accessors, class fields, static methods
 * and symbols are left alone. `name`, `length` and the metadata of other decorators stay as they are, above or below.
 *
 * @param group normalised once, here (trimmed, lower case)
 * @param options see {@link SpanGroupOptions}
 * @throws NestLensError `NOT_A_METHOD` on a property or an accessor
 *
 * @example
 * ```ts
 * @SpanGroup('orders')
 * @Controller('orders')
 * class OrdersController {
 *   @Get(':id')
 *   @SpanGroup('orders', { attributes: (id: string) => ({ 'order.id': id }) })
 *   read(@Param('id') id: string) {}
 * }
 * ```
 */
export function SpanGroup(group: string, options: SpanGroupOptions = {}): ClassDecorator & MethodDecorator {
  const metadata: SpanGroupMetadata = { group: normaliseName(group), options };
  return ((target: object, key?: string | symbol, descriptor?: PropertyDescriptor) => {
    if (key === undefined) {
      setSpanGroupMetadata(target, metadata);
      gateClass(target as AnyClass, metadata);
      return undefined;
    }
    const method = methodOf(target, key, descriptor);
    const Class = typeof target === 'function' ? target : target.constructor;
    const gated = gateMethod(method, siteOf(metadata, false, Class, String(key)));
    setSpanGroupMetadata(gated, metadata);
    return replaceMethod(descriptor!, gated);
  }) as ClassDecorator & MethodDecorator;
}

/**
 * Takes one method out of its class's span group: it makes no spans. Above a `@SpanGroup` on the same method it undoes that.
 *
 * @example
 * ```ts
 * @SpanGroup('orders')
 * @Controller('orders')
 * class OrdersController {
 *   @NoSpanGroup()
 *   @Get('health')
 *   health() {}
 * }
 * ```
 */
export function NoSpanGroup(): MethodDecorator {
  return (target: object, key: string | symbol, descriptor?: PropertyDescriptor) => {
    const method = ungateMethod(methodOf(target, key, descriptor));
    setSpanGroupMetadata(method, { group: null, options: {} });
    return replaceMethod(descriptor!, method);
  };
}

function methodOf(
  target: object,
  key: string | symbol,
  descriptor: PropertyDescriptor | undefined,
): AnyFunction {
  const method: unknown = descriptor?.value;
  if (typeof method === 'function') return method as AnyFunction;
  const className = typeof target === 'function' ? target.name : target.constructor.name;
  throw createError(NestLensError, 'NOT_A_METHOD', { site: `${className}.${String(key)}` });
}

/** In place as well: `applyDecorators` hands one descriptor on and drops what decorators return. */
function replaceMethod(descriptor: PropertyDescriptor, method: AnyFunction): PropertyDescriptor {
  descriptor.value = method;
  return descriptor;
}

/** Measured: with a spread of the metadata it takes a microsecond more, for each method of an application. */
function siteOf(
  { group, options }: SpanGroupMetadata,
  onClass: boolean,
  Class: MethodSite['Class'],
  methodName: string,
): MethodSite {
  return { group: group ?? '', options, onClass, Class, methodName };
}

/**
 * Gates the methods of a class that its group covers and that aren't gated by it yet. Used when the class is decorated, and
 * again while an application boots, for classes that inherit their group from a decorated base class.
 */
export function gateClass(Class: AnyClass, metadata: SpanGroupMetadata): void {
  const prototype = Class.prototype as object;
  for (const { name, method } of coveredMethods(Class)) {
    if (ownSpanGroup(method) !== undefined) continue; // the method's own decorator wins
    const gated = gatedMethodOf(method);
    if (gated?.site.group === metadata.group && gated.site.options === metadata.options) continue;
    const descriptor = Object.getOwnPropertyDescriptor(prototype, name);
    if (descriptor !== undefined && descriptor.configurable !== true) continue;
    Object.defineProperty(prototype, name, {
      configurable: true,
      writable: true,
      enumerable: false,
      ...descriptor,
      value: gateMethod(method, siteOf(metadata, true, Class, name), inheritedGate(prototype, name)),
    });
  }
}

/** The method that one of this name overrides, if its group is its class's: a `super` call then goes on with the same work. */
function inheritedGate(prototype: object, name: string): GatedMethod | undefined {
  const base = Object.getPrototypeOf(prototype) as object;
  const overridden = classMethods(base).find((method) => method.name === name)?.method;
  const gated = overridden === undefined ? undefined : gatedMethodOf(overridden);
  return gated?.site.onClass === true ? gated : undefined;
}

function coveredMethods(Class: AnyClass): ClassMethod[] {
  const methods = classMethods(Class.prototype as object);
  const handlers = methods.filter(({ method }) => handlerType(method) !== undefined);
  // `@Controller()` may stand above ours and not have run yet, so a class with handlers counts as one that has the mark.
  if (handlers.length > 0 || isHandlerClass(Class)) return handlers;
  return methods.filter(({ inherited }) => !inherited);
}
