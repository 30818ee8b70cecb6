import type { AnyFunction } from '../../core/spans/gated-function.js';
import { checkText } from '../../core/diagnostics/argument-error.js';
import { createError, NestLensError } from '../../core/diagnostics/errors.js';
import type { SpanGroupName } from '../../core/groups/span-group-names.js';
import { missSetUpLater } from '../../core/groups/missing-set-up.js';
import { normaliseName } from '../../core/groups/span-group-spec.js';
import { processState } from '../../core/state/process-state.js';
import { classNameOf, keepClassName } from './class-name.js';
import type { AnyClass } from './class-methods.js';
import { gateClass } from './gated-class.js';
import { gateMethod, ungateMethod } from './gate-method.js';
import { lentGateOf } from './known-gates.js';
import {
  checkSpanGroupOptions,
  setSpanGroupMetadata,
  type SpanGroupMetadata,
  type SpanGroupOptions,
} from './span-group-metadata.js';

/**
 * Puts a method behind the gate of a span group: each call is a span while the group is on, and goes straight through
 * while it is off (one field is read, nothing is allocated). It works on handlers of every context type and on any other
 * method, with or without `NestLensModule`; without it the group is never on, unless the application sets up by itself.
 *
 * On a class: each handler of a controller, gateway or resolver, inherited ones too; each own method of any other
 * provider. A subclass inherits the group for its own methods, if `NestLensModule` is imported and Nest makes the instances:
 * the methods are gated while the application boots. A method's own `@SpanGroup` or `@NoSpanGroup` wins over its class's, and
 * a subclass's over its base's. Accessors, class fields, static methods and symbols are left alone. `name`, `length` and the
 * metadata of other decorators stay as they are, above or below.
 *
 * @param group normalised once, here (trimmed, lower case)
 * @param options see {@link SpanGroupOptions}
 * @throws NestLensError `NOT_A_METHOD` on a property or an accessor; `EXPERIMENTAL_DECORATORS_OFF` where the compiler gives it
 * what a decorator of ECMAScript gets. TypeError for a group or an option of a wrong type
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
export function SpanGroup(
  group: SpanGroupName,
  options: SpanGroupOptions = {},
): ClassDecorator & MethodDecorator {
  checkText('@SpanGroup: group', group);
  checkSpanGroupOptions(options);
  missSetUpLater();
  return decorate('@SpanGroup', { group: normaliseName(group), options });
}

/**
 * Takes a method out of its class's span group: it makes no spans. Above a `@SpanGroup` on the same method it undoes that. On a
 * class: takes out all of its methods that are in a group of the class or of a base class; a method's own `@SpanGroup` wins.
 *
 * @throws NestLensError as {@link SpanGroup} does
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
export function NoSpanGroup(): ClassDecorator & MethodDecorator {
  return decorate('@NoSpanGroup', { group: null, options: {} });
}

function decorate(decorator: string, metadata: SpanGroupMetadata): ClassDecorator & MethodDecorator {
  return ((target: object, key?: string | symbol | object, descriptor?: PropertyDescriptor) => {
    // Standard ECMAScript decorators get the value and a context object.
    if (typeof key === 'object')
      throw createError(NestLensError, 'EXPERIMENTAL_DECORATORS_OFF', { decorator });
    const Class = typeof target === 'function' ? target : target.constructor;
    keepClassName(Class);
    if (key === undefined) {
      if (metadata.group !== null) processState.areClassesInGroups = true;
      setSpanGroupMetadata(target, metadata);
      gateClass(target as AnyClass, metadata);
      return undefined;
    }
    const method: unknown = descriptor?.value;
    if (descriptor === undefined || typeof method !== 'function') {
      const site = `${classNameOf(Class)}.${String(key)}`;
      throw createError(NestLensError, 'NOT_A_METHOD', { decorator, site });
    }
    const { group, options } = metadata;
    // A class may be decorated while an application runs that has lent its methods gates.
    const lent = lentGateOf(target, key, method);
    const decorated =
      group === null
        ? ungateMethod(method as AnyFunction, lent)
        : gateMethod(method as AnyFunction, { group, options, onClass: false, Class, key }, lent);
    setSpanGroupMetadata(decorated, metadata);
    // It is changed in place, too, because `applyDecorators` passes one descriptor on and drops the return values of
    // decorators.
    descriptor.value = decorated;
    return descriptor;
  }) as ClassDecorator & MethodDecorator;
}
