import type { RegisteredName } from './define-span-groups.js';

/**
 * The names of all groups of an application. It is empty here, so a group may be any string. Merge definitions into it, and a
 * misspelt group is a compile error wherever one is named, without an import of the definition: in `@SpanGroup`,
 * `managedSpan`, `traceFn`, `isSpanGroupEnabled`, `forRoot` and `forFeature`.
 *
 * A member stands for the groups of its definition, or for one group of its own name: `orders: true`. Only applications merge;
 * a library would decide for everybody who installs it.
 *
 * @example
 * declare module 'nest-lens' {
 *   interface SpanGroupNames {
 *     shop: typeof shop; // what defineSpanGroups returned
 *   }
 * }
 */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type -- applications merge their definitions into it
export interface SpanGroupNames {}

/** A group: any string; once names are merged into {@link SpanGroupNames}, one of those. */
export type SpanGroupName = keyof SpanGroupNames extends never
  ? string
  : {
      [K in keyof SpanGroupNames]: SpanGroupNames[K] extends { readonly groups: readonly (infer G)[] }
        ? RegisteredName<G & string>
        : K & string;
    }[keyof SpanGroupNames];
