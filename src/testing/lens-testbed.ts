import type { SpanGroupDefinition } from '../core/groups/span-group-definition.js';
import type { CapturedSpan } from './captured-span.js';

/** Options of `createLensTestbed`. */
export interface LensTestbedOptions {
  /** The spec: the groups that are on. @defaultValue 'all' */
  spec?: string;
  /**
   * Definitions to register in the testbed, besides those of its applications. @defaultValue everything that is registered
   * outside, e.g. by libraries that register at import
   */
  definitions?: Iterable<SpanGroupDefinition>;
}

/** The result of `createLensTestbed`: NestLens for one test, or for several. */
export interface LensTestbed {
  /** The ended spans, in the order of their ends. They stay when the testbed is disposed. */
  spans(): CapturedSpan[];
  /**
   * The only span of a name.
   *
   * @throws Error if there is none or more than one; the message shows the {@link LensTestbed.tree}
   */
  span(name: string): CapturedSpan;
  /**
   * All spans as text for an assertion. Each has a line below its parent, in the order of their starts: the name, the group,
   * `ERROR` with its message, `cancelled`, `not ended`. An empty string when there are none.
   *
   * @example
   * expect(testbed.tree()).toBe(`
   * OrdersController.place [orders]
   *   stock.take [stock] ERROR out of stock`.trim());
   */
  tree(): string;
  /**
   * Runs a function while another spec is in force, for the applications of this testbed too.
   *
   * @param spec the groups that are on; '' for none
   * @param fn may be async: then the spec is in force until it has settled
   * @returns the result of `fn`
   */
  withGroups<T>(spec: string, fn: () => T): T;
  /**
   * Resets the testbed: no spans, its own spec, its own definitions. Registrations of running applications stay. Spans under
   * way aren't caught any more.
   */
  reset(): void;
  /** Restores the state before the testbed. Close applications first. */
  dispose(): Promise<void>;
  /** The same, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}
