import { type AnyClass, type ClassMethod, classMethods, classOfPrototype } from './class-methods.js';
import { gateMethod, ungateMethod } from './gate-method.js';
import { gatedMethodOf } from './gated-method.js';
import { isHandler, isHandlerClass } from './handler-kind.js';
import { lentGateAt } from './known-gates.js';
import { classSpanGroup, ownSpanGroup, type SpanGroupMetadata } from './span-group-metadata.js';

/**
 * Puts the methods that a class's group covers, or the given ones, behind its gate; `group: null` takes them out. A method's
 * own decorator wins. Methods with the right gate are left alone.
 */
export function gateClass(
  Class: AnyClass,
  { group, options }: SpanGroupMetadata,
  methods = coveredMethods(Class, group),
): void {
  const prototype = Class.prototype as object;
  for (const { name: key, method, owner } of methods) {
    if (ownSpanGroup(method) !== undefined) continue;
    const lent = lentGateAt(owner, key);
    const site = (gatedMethodOf(method) ?? lent)?.site;
    if (group === null ? site === undefined : site?.group === group && site.options === options) continue;
    const descriptor = Object.getOwnPropertyDescriptor(prototype, key);
    if (descriptor !== undefined && descriptor.configurable !== true) continue;
    const value =
      group === null
        ? ungateMethod(method, lent)
        : gateMethod(method, { group, options, onClass: true, Class, key }, lent);
    // A prototype that can't be extended refuses inherited methods, so they stay ungated.
    Reflect.defineProperty(prototype, key, {
      configurable: true,
      writable: true,
      enumerable: false,
      ...descriptor,
      value,
    });
  }
}

/**
 * Gates a class whose group is that of a base class, or whose handlers were decorated after the class; base classes come
 * first. It can't happen when the base class is decorated, because the subclass doesn't exist then.
 *
 * @param done the classes that are done already; they are left out
 */
export function gateInherited(Class: AnyClass, done: Set<AnyClass>): void {
  if (done.has(Class)) return;
  done.add(Class);
  const base = baseClassOf(Class);
  if (base !== undefined) gateInherited(base, done);
  const own = ownSpanGroup(Class);
  const metadata = own ?? (base === undefined ? undefined : classSpanGroup(Class));
  if (metadata === undefined) return;
  // A class with its own group had its methods gated by its decorator, except handlers that were decorated later.
  const methods = own === undefined || own.group === null ? undefined : handlersOf(Class);
  gateClass(Class, metadata, methods);
}

/** The base class, by `extends` or, in the old way, by the prototype. */
function baseClassOf(Class: AnyClass): AnyClass | undefined {
  const prototype = Object.getPrototypeOf(Class.prototype) as object | null;
  if (prototype === null || prototype === Object.prototype) return undefined;
  const base = classOfPrototype(prototype);
  return base?.prototype === prototype ? base : undefined;
}

function handlersOf(Class: AnyClass): ClassMethod[] {
  return classMethods(Class.prototype as object).filter(({ method }) => isHandler(method));
}

function coveredMethods(Class: AnyClass, group: string | null): ClassMethod[] {
  const methods = classMethods(Class.prototype as object);
  // `group: null` takes out all methods of a class, inherited ones too.
  if (group === null) return methods;
  const handlers = methods.filter(({ method }) => isHandler(method));
  // `@Controller()` may stand above our decorator and not have run yet, so a class with handlers counts as a controller.
  if (handlers.length > 0 || isHandlerClass(Class)) return handlers;
  return methods.filter(({ inherited }) => !inherited);
}
