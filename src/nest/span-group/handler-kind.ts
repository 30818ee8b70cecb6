import 'reflect-metadata';

/** The kinds of execution context that Nest calls handlers in. */
export type Transport = 'http' | 'rpc' | 'ws' | 'graphql';

/**
 * Nest's own marks on handler methods. They are written out, because the packages of transports that an application
 * doesn't use aren't installed; each is checked against the real package by a test.
 */
const HANDLER_MARKS: readonly (readonly [mark: string, transport: Transport])[] = [
  ['path', 'http'],
  ['__sse__', 'http'],
  ['microservices:pattern', 'rpc'],
  ['microservices:request_pattern', 'rpc'],
  ['websockets:message_mapping', 'ws'],
  ['graphql:resolver_type', 'graphql'],
  ['graphql:resolve_property', 'graphql'],
  ['graphql:resolve_reference', 'graphql'],
];

/** The transports that a method handles requests of, by Nest's metadata on it; none: not a handler. */
export function handlerTransports(method: object): readonly Transport[] {
  const marks = HANDLER_MARKS.filter(([mark]) => Reflect.hasOwnMetadata(mark, method));
  return [...new Set(marks.map(([, transport]) => transport))];
}

/** The first of them; undefined: not a handler. */
export function handlerTransport(method: object): Transport | undefined {
  return handlerTransports(method)[0];
}

/** Marks of classes whose methods are handlers, all of them or none. */
const HANDLER_CLASS_MARKS = ['__controller__', 'websockets:is_gateway', 'graphql:resolver_type'];

/** Whether a class is a controller, gateway or resolver, as far as its decorators have run. */
export function isHandlerClass(Class: object): boolean {
  return HANDLER_CLASS_MARKS.some((mark) => Reflect.hasMetadata(mark, Class));
}
