import type * as fallbacks from './lens-fallbacks.cjs';

/** Typed by the fallbacks, which are always there; `SpanGroup` isn't part of `nest-lens/core`. */
export declare const lens: Omit<typeof fallbacks, 'SpanGroup'>;
