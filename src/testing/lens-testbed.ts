import type { SpanGroupDefinition } from '../core/groups/span-group-definition.js';
import type { CapturedSpan } from './captured-span.js';

/** Options of `createLensTestbed`. */
export interface LensTestbedOptions {
  /** The spec: which groups are on. @defaultValue 'all' */
  spec?: string;
  /**
   * What is registered in the testbed, besides what an application in it registers by itself.
   * @defaultValue what is registered outside, as by libraries that register when they are imported
   */
  definitions?: Iterable<SpanGroupDefinition>;
}

/** What `createLensTestbed` makes: NestLens for one test, or for several. */
export interface LensTestbed {
  /** The spans that have ended, in that order. They stay when the testbed is disposed. */
  spans(): CapturedSpan[];
  /**
   * The one span of a name.
   *
   * @throws Error when there is none or more than one; it shows the {@link LensTestbed.tree}
   */
  span(name: string): CapturedSpan;
  /**
   * All spans as text for an assertion, a line a span, below its parent, in the order in which they started: the name, the
   * group, `ERROR` with its message, `cancelled`, `not ended`. An empty string when there are none.
   *
   * @example
   * expect(testbed.tree()).toBe(`
   * OrdersController.place [orders]
   *   stock.take [stock] ERROR out of stock`.trim());
   */
  tree(): string;
  /**
   * Runs something while another spec is in force, also for what an application in this testbed does meanwhile.
   *
   * @param spec which groups are on; '' for none
   * @param fn may be async: then the spec is in force until it has settled
   * @returns what `fn` returns
   */
  withGroups<T>(spec: string, fn: () => T): T;
  /**
   * Takes the testbed back to how it was made: no spans, its own spec, its own definitions. What applications that still run
   * have registered stays. Spans under way aren't caught any more.
   */
  reset(): void;
  /** Puts back whatever was there before. Close applications first. */
  dispose(): Promise<void>;
  /** The same, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}
