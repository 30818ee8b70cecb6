import type { TakeBack } from './take-back.js';

/**
 * Replaces a method of a foreign object until it is taken back. If another program has put its own function before ours by
 * then, ours stays and must behave like the original.
 *
 * @param make makes the new function from the original method
 * @returns undefined if the object has no such method, or it can't be replaced
 */
export function putBefore<Method extends (...args: never[]) => unknown>(
  object: object,
  name: string,
  make: (original: Method) => Method,
): TakeBack | undefined {
  const original: unknown = Reflect.get(object, name);
  if (typeof original !== 'function') return undefined;
  const before = Object.getOwnPropertyDescriptor(object, name);
  const ours = make(original as Method);
  const isPut = Reflect.defineProperty(object, name, {
    value: ours,
    configurable: true,
    enumerable: before?.enumerable ?? false,
    writable: true,
  });
  if (!isPut) return undefined;
  return () => {
    if (Reflect.get(object, name) !== ours) return;
    if (before === undefined) Reflect.deleteProperty(object, name);
    else Reflect.defineProperty(object, name, before);
  };
}
