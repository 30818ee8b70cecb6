import { type AnyClass, ClassMethod, classOfPrototype } from '../span-group/class-methods.js';
import { isGateway } from '../span-group/handler-kind.js';

const LEFT_OUT: ReadonlySet<string> = new Set([
  'constructor',
  'then',
  // Nest calls the hooks once, while an application starts or closes.
  'onModuleInit',
  'onApplicationBootstrap',
  'onModuleDestroy',
  'beforeApplicationShutdown',
  'onApplicationShutdown',
]);

/** Nest calls these hooks of a gateway, for its server and for each client. */
const GATEWAY_HOOKS: ReadonlySet<string> = new Set(['afterInit', 'handleConnection', 'handleDisconnect']);

/**
 * The methods of a provider for `autoGroups`: its own, and those of base classes up to the first one that is left out (a
 * package's: an `EventEmitter`, a `Repository`). No getter runs. Lifecycle hooks, accessors, symbols, class fields and `then`
 * are left out.
 */
export function providerMethods(Class: AnyClass, isLeftOut: (Base: object) => boolean): ClassMethod[] {
  const prototype = Class.prototype as object;
  const seen = new Set<string>();
  const methods: ClassMethod[] = [];
  for (let at: object | null = prototype; at !== null; at = Object.getPrototypeOf(at) as object | null) {
    if (at !== prototype && isForeign(at, isLeftOut)) break;
    for (const name of Object.getOwnPropertyNames(at)) {
      if (LEFT_OUT.has(name) || seen.has(name)) continue;
      if (GATEWAY_HOOKS.has(name) && isGateway(Class)) continue;
      seen.add(name);
      const descriptor = Object.getOwnPropertyDescriptor(at, name)!;
      if (typeof descriptor.value !== 'function' || isConstructor(descriptor.value as object)) continue;
      methods.push(new ClassMethod(name, at, descriptor, at !== prototype));
    }
  }
  return methods;
}

/** The last prototype of a chain is that of `Object`, of this or another realm. */
function isForeign(prototype: object, isLeftOut: (Base: object) => boolean): boolean {
  if (Object.getPrototypeOf(prototype) === null) return true;
  const Class = classOfPrototype(prototype);
  return Class !== undefined && isLeftOut(Class);
}

/** A class on a prototype is a constructor to call with `new`, and no method. */
function isConstructor(value: object): boolean {
  return Object.getOwnPropertyDescriptor(value, 'prototype')?.writable === false;
}
