import 'reflect-metadata';

export type AnyClass = abstract new (...args: never[]) => unknown;

/** A method of a class, as found in its prototype chain. */
export class ClassMethod {
  private known: readonly unknown[] | undefined;

  readonly method: (...args: unknown[]) => unknown;

  /**
   * @param owner the prototype that has the method
   * @param descriptor the method there
   */
  constructor(
    readonly name: string,
    readonly owner: object,
    readonly descriptor: PropertyDescriptor,
    readonly inherited: boolean,
  ) {
    this.method = descriptor.value as ClassMethod['method'];
  }

  /** The keys of the method's own metadata. They are listed once, because that takes 4 us at a start. */
  get keys(): readonly unknown[] {
    return (this.known ??= Reflect.getOwnMetadataKeys(this.method));
  }
}

/** The class of a prototype, found without running a getter; undefined if it doesn't name one. */
export function classOfPrototype(prototype: object): AnyClass | undefined {
  const Class: unknown = Object.getOwnPropertyDescriptor(prototype, 'constructor')?.value;
  return typeof Class === 'function' ? (Class as AnyClass) : undefined;
}

/**
 * The methods of a class: its own first, then inherited ones that it doesn't override, in the order in which Nest scans them.
 * It reads property descriptors, so no getter runs. Symbols, accessors and class fields are left out.
 */
export function classMethods(prototype: object): ClassMethod[] {
  const methods: ClassMethod[] = [];
  /** The names of the classes further down. Most classes have no base class, so no name comes twice. */
  let seen: Set<string> | undefined;
  let at: object | null = prototype;
  while (at !== null && at !== Object.prototype) {
    const names = Object.getOwnPropertyNames(at);
    for (const name of names) {
      if (name === 'constructor' || seen?.has(name) === true) continue;
      const descriptor = Object.getOwnPropertyDescriptor(at, name)!;
      if (typeof descriptor.value !== 'function') continue;
      methods.push(new ClassMethod(name, at, descriptor, at !== prototype));
    }
    at = Object.getPrototypeOf(at) as object | null;
    if (at !== null && at !== Object.prototype) seen = new Set([...(seen ?? []), ...names]);
  }
  return methods;
}
