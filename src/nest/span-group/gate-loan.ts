/** For whom a gate is there that nobody has written, and what stood in its place. */
export interface GateLoan {
  /** The module containers of the applications. */
  readonly borrowers: Set<object>;
  readonly prototype: object;
  readonly key: string;
  /** Undefined: the class inherited the method. */
  readonly former: PropertyDescriptor | undefined;
}
