/** Takes back what was put before a method. */
export type TakeBack = () => void;

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- any method of anybody's object; only its owner knows the types
type Method = (this: any, ...args: any[]) => any;

/**
 * Puts a function in the place of a method of somebody else's object, until it is taken back. Where somebody has put another
 * one before ours by then, ours stays, and has to do what the original does.
 *
 * @param make the function, from the method that it replaces
 * @returns undefined where the object has no such method, or takes no other one
 */
export function putBefore(
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
