import 'reflect-metadata';
import type { ContextType } from '@nestjs/common';

/** The answers of `ExecutionContext.getType()` in a handler: Nest's own types, and that of `@nestjs/graphql`. */
export type HandlerType = ContextType | 'graphql';

/**
 * Nest's own marks on handler methods. They are written out, because an application installs only the packages of Nest that
 * it uses; a test compares each mark with the real package.
 */
const HANDLER_MARKS: ReadonlyMap<unknown, HandlerType> = new Map([
  ['path', 'http'],
  ['__sse__', 'http'],
  ['microservices:pattern', 'rpc'],
  ['microservices:request_pattern', 'rpc'],
  ['websockets:message_mapping', 'ws'],
  ['graphql:resolver_type', 'graphql'],
  ['graphql:resolve_property', 'graphql'],
  ['graphql:resolve_reference', 'graphql'],
]);

/** The context types in which Nest calls a method, by its metadata; empty if it isn't a handler. */
export function handlerTypes(method: object): readonly HandlerType[] {
  const marks = [...HANDLER_MARKS].filter(([mark]) => Reflect.hasOwnMetadata(mark, method));
  return [...new Set(marks.map(([, type]) => type))];
}

/** Whether Nest calls a method in some context type. */
export function isHandler(method: object): boolean {
  return isMarkedAsHandler(Reflect.getOwnMetadataKeys(method));
}

/** @param keys those of the method's own metadata */
export function isMarkedAsHandler(keys: readonly unknown[]): boolean {
  return keys.some(isHandlerMark);
}

function isHandlerMark(key: unknown): boolean {
  return HANDLER_MARKS.has(key);
}

/** The first of them; undefined if it isn't a handler. */
export function handlerType(method: object): HandlerType | undefined {
  return handlerTypes(method)[0];
}

const GATEWAY_MARK = 'websockets:is_gateway';

/** Marks of classes whose methods are handlers. */
const HANDLER_CLASS_MARKS = ['__controller__', GATEWAY_MARK, 'graphql:resolver_type'];

/** Whether a class is a controller, gateway or resolver, as far as its decorators have run. */
export function isHandlerClass(Class: object): boolean {
  return isMarkedAsHandlerClass(Reflect.getMetadataKeys(Class));
}

export function isGateway(Class: object): boolean {
  return Reflect.hasMetadata(GATEWAY_MARK, Class);
}

/** @param keys those of the class's metadata */
export function isMarkedAsHandlerClass(keys: readonly unknown[]): boolean {
  return HANDLER_CLASS_MARKS.some((mark) => keys.includes(mark));
}
