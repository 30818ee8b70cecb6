/** The part of `reflect-metadata` that is used here, if the application has loaded it. */
interface MetadataReflect {
  getOwnMetadataKeys?(target: object): readonly unknown[];
  getOwnMetadata?(key: unknown, target: object): unknown;
  defineMetadata?(key: unknown, value: unknown, target: object): void;
}

/**
 * Makes a wrapper look like the function it wraps: prototype, `name`, `length`, own properties, symbols, and metadata.
 * Frameworks look at them: Express at `length`, Nest at the metadata.
 */
export function mirrorFunction<F extends (...args: never[]) => unknown>(original: F, wrapper: F): F {
  mirrorProperties(original, wrapper, Reflect.ownKeys(original));
  copyMetadata(original, wrapper);
  return wrapper;
}

/**
 * The same without the metadata.
 *
 * @param own the keys of the original's own properties
 */
export function mirrorProperties(original: object, wrapper: object, own: readonly PropertyKey[]): void {
  defineProperties(original, wrapper, own, (_key, descriptor) => descriptor);
}

/** Properties that every function may have. */
const OF_FUNCTIONS: ReadonlySet<PropertyKey> = new Set([
  'name',
  'length',
  'prototype',
  'arguments',
  'caller',
]);

/**
 * Does what `mirrorProperties` does, for a function that others have already: what they set on one of the two is read on the
 * other. A spy counts its calls in such a property, and a memoised function has its cache there.
 *
 * @param current gives what has the properties at a time, if that isn't the original for good
 */
export function shareProperties(
  original: object,
  wrapper: object,
  own: readonly PropertyKey[],
  current?: () => object,
): void {
  const owner = current ?? ((): object => original);
  defineProperties(original, wrapper, own, (key, descriptor) => {
    if (OF_FUNCTIONS.has(key) || (current === undefined && descriptor.writable !== true)) return descriptor;
    return {
      configurable: current !== undefined || descriptor.configurable === true,
      enumerable: descriptor.enumerable === true,
      get: (): unknown => Reflect.get(owner(), key),
      set: (value: unknown) => void Reflect.set(owner(), key, value),
    };
  });
}

function defineProperties(
  original: object,
  wrapper: object,
  own: readonly PropertyKey[],
  choose: (key: PropertyKey, descriptor: PropertyDescriptor) => PropertyDescriptor,
): void {
  mirrorPrototype(original, wrapper);
  for (const key of own) {
    const descriptor = Reflect.getOwnPropertyDescriptor(original, key)!;
    // Measured: the first defined property turns a function into a slow object, with 230 B more.
    const isThere = key === 'name' || key === 'length';
    if (isThere && descriptor.value === (wrapper as { name: string; length: number })[key]) continue;
    // `arguments`, `caller` and a plain function's `prototype` may be fixed on the wrapper; all other properties are defined.
    Reflect.defineProperty(wrapper, key, choose(key, descriptor));
  }
}

/** An async function, and a generator, has a prototype of its own. */
export function mirrorPrototype(original: object, wrapper: object): void {
  const prototype = Object.getPrototypeOf(original) as object | null;
  if (prototype !== Object.getPrototypeOf(wrapper)) Object.setPrototypeOf(wrapper, prototype);
}

/**
 * Copies the metadata that `reflect-metadata` keeps for a function.
 *
 * @param keys its keys, if they are known: to list them takes 4 us at a start
 */
export function copyMetadata(from: object, to: object, keys?: readonly unknown[]): void {
  const reflect = Reflect as MetadataReflect;
  for (const key of keys ?? reflect.getOwnMetadataKeys?.(from) ?? []) {
    reflect.defineMetadata?.(key, reflect.getOwnMetadata?.(key, from), to);
  }
}
