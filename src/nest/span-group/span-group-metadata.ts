import 'reflect-metadata';
import { type Attributes, SpanKind } from '@opentelemetry/api';
import { argumentError, checkOptions } from '../../core/diagnostics/argument-error.js';

/** Options of `@SpanGroup`. */
export interface SpanGroupOptions {
  /** The span's name. On a class, it replaces the class's name in `Class.method`. @defaultValue `Class.method` */
  name?: string;
  /** Makes attributes from the method's arguments; runs only while the group is on. @defaultValue none */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- a decorator's type can't know the method's arguments
  attributes?: (...args: any[]) => Attributes;
  /**
   * Returns the headers with the trace of the call, from the method's arguments: those of a message, a job or an event. If no
   * span is active, the span that they name becomes the parent; otherwise, and under `SpanGroupInterceptor`, it is linked. It
   * may return everything that `extractContext` reads. It runs only while the group is on. @defaultValue none
   */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- a decorator's type can't know the method's arguments
  carrier?: (...args: any[]) => object | null | undefined;
  /**
   * The role of the span in its trace, e.g. `CLIENT` for a method that calls another service. @defaultValue SpanKind.INTERNAL
   */
  kind?: SpanKind;
  /**
   * Whether a thrown value makes the span an error; it is recorded either way. Use it for thrown control flow, such as
   * BullMQ's `DelayedError`. If it returns undefined, the application's `isError` decides, and then the rule. @defaultValue
   * undefined
   */
  isError?: (thrown: unknown) => boolean | undefined;
}

const WANTED = Object.entries({
  name: ['a string', (given: unknown) => typeof given === 'string'],
  attributes: ["a function of the method's arguments", isFunction],
  carrier: ["a function of the method's arguments", isFunction],
  isError: ['a function of the thrown value', isFunction],
  kind: ['one of SpanKind', (given: unknown) => typeof given === 'number' && given in SpanKind],
} as const);

function isFunction(given: unknown): boolean {
  return typeof given === 'function';
}

/** @throws TypeError for a value of a wrong type, while the class is defined and not at a call */
export function checkSpanGroupOptions(options: SpanGroupOptions): void {
  checkOptions('@SpanGroup: options', options);
  for (const [option, [wanted, isRight]] of WANTED) {
    const given = options[option as keyof SpanGroupOptions];
    if (given !== undefined && !isRight(given)) throw argumentError(`@SpanGroup: ${option}`, wanted, given);
  }
}

/** The mark of `@SpanGroup` on a class or method. On a method, `group: null` takes it out of its class's group. */
export interface SpanGroupMetadata {
  readonly group: string | null;
  readonly options: SpanGroupOptions;
}

/** It is a namespaced string, so that every copy of the package can read the marks of the others. */
export const SPAN_GROUP_METADATA = 'nest-lens:span-group';

export function setSpanGroupMetadata(target: object, metadata: SpanGroupMetadata): void {
  Reflect.defineMetadata(SPAN_GROUP_METADATA, metadata, target);
}

/** The mark that decides about a method: its own, else that of its class or a base class. Undefined if there is none. */
export function spanGroupOf(method: object, Class: object): SpanGroupMetadata | undefined {
  return ownSpanGroup(method) ?? classSpanGroup(Class);
}

/** The mark on the method or class itself. */
export function ownSpanGroup(target: object): SpanGroupMetadata | undefined {
  return Reflect.getOwnMetadata(SPAN_GROUP_METADATA, target) as SpanGroupMetadata | undefined;
}

/** The group of a class or of its base class. */
export function classSpanGroup(Class: object): SpanGroupMetadata | undefined {
  return Reflect.getMetadata(SPAN_GROUP_METADATA, Class) as SpanGroupMetadata | undefined;
}
