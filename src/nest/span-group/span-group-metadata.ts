import 'reflect-metadata';
import { type Attributes, SpanKind } from '@opentelemetry/api';
import { argumentError, checkOptions } from '../../core/diagnostics/argument-error.js';

/** Options of `@SpanGroup`. */
export interface SpanGroupOptions {
  /** The span's name. On a class: stands for the class's name in `Class.method`. @defaultValue `Class.method` */
  name?: string;
  /** Attributes from the method's arguments; runs only when the group is on. @defaultValue none */
  // The arguments are those of the decorated method, which a decorator's type can't know.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  attributes?: (...args: any[]) => Attributes;
  /**
   * Headers that name the trace which the call belongs to, from the method's arguments: those of a message, a job or an event.
   * Where no span is active, the span that they name is the parent; where one is, or under `SpanGroupInterceptor`, it is linked.
   * They may be whatever `extractContext` reads. Runs only when the group is on. @defaultValue none
   */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- as above
  carrier?: (...args: any[]) => object | null | undefined;
  /** The role of the span in its trace: a method that calls another service is `CLIENT`, say. @defaultValue SpanKind.INTERNAL */
  kind?: SpanKind;
  /**
   * Whether a thrown value makes the span an error; it is recorded either way. For control flow that is thrown, such as
   * BullMQ's `DelayedError`. Undefined leaves it to the application's `isError`, and then to the rule. @defaultValue undefined
   */
  isError?: (thrown: unknown) => boolean | undefined;
}

const WANTED = {
  name: ['a text', (given: unknown) => typeof given === 'string'],
  attributes: ["a function of the method's arguments", isFunction],
  carrier: ["a function of the method's arguments", isFunction],
  isError: ['a function of the thrown value', isFunction],
  kind: ['one of SpanKind', (given: unknown) => typeof given === 'number' && given in SpanKind],
} as const;

function isFunction(given: unknown): boolean {
  return typeof given === 'function';
}

/** @throws TypeError for what has a wrong type: while the class is defined, not at a call that is on */
export function checkSpanGroupOptions(options: SpanGroupOptions): void {
  checkOptions('@SpanGroup: options', options);
  for (const [option, [wanted, isRight]] of Object.entries(WANTED)) {
    const given = options[option as keyof typeof WANTED];
    if (given !== undefined && !isRight(given)) throw argumentError(`@SpanGroup: ${option}`, wanted, given);
  }
}

/** What `@SpanGroup` leaves on a class or method. On a method, `group: null` takes it out of its class's group. */
export interface SpanGroupMetadata {
  readonly group: string | null;
  readonly options: SpanGroupOptions;
}

/** A namespaced string, so that every copy of the package reads what any other has written. */
export const SPAN_GROUP_METADATA = 'nest-lens:span-group';

export function setSpanGroupMetadata(target: object, metadata: SpanGroupMetadata): void {
  Reflect.defineMetadata(SPAN_GROUP_METADATA, metadata, target);
}

/** The group of a method, else of its class (a base class's counts): the method's own wins. Undefined: in no group. */
export function spanGroupOf(method: object, Class: object): SpanGroupMetadata | undefined {
  const own = ownSpanGroup(method);
  if (own !== undefined) return own.group === null ? undefined : own;
  return classSpanGroup(Class);
}

/** What stands on a method or class itself. */
export function ownSpanGroup(target: object): SpanGroupMetadata | undefined {
  return Reflect.getOwnMetadata(SPAN_GROUP_METADATA, target) as SpanGroupMetadata | undefined;
}

/** The group of a class; a base class's counts. */
export function classSpanGroup(Class: object): SpanGroupMetadata | undefined {
  return Reflect.getMetadata(SPAN_GROUP_METADATA, Class) as SpanGroupMetadata | undefined;
}
