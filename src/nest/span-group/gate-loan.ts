/** A gate without a decorator: the applications that asked for it, and the method that it replaced. */
export interface GateLoan {
  /** The module containers of those applications. A set may be that of many loans, so a change takes a new one. */
  borrowers: ReadonlySet<object>;
  readonly prototype: object;
  readonly key: string;
  /** Undefined if the class inherited the method. */
  readonly former: PropertyDescriptor | undefined;
}
