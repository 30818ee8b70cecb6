import type { OtlpCollector } from './otlp-collector.js';
import { bold, yellow } from './palette.js';
import type { ShownSpan } from './shown-span.js';
import type { ShopProcess } from './shop-process.js';
import { spanTree } from './span-tree.js';

/** The server's span. */
const ORDER = 'POST /orders';
/** Batches leave the shop this often, in milliseconds. */
export const EXPORTED_EVERY = 100;

/** Prints lines. */
export type Say = (...lines: string[]) => void;

/** What one order cost, and the spans that it made. */
export interface TracedOrder {
  readonly label: string;
  readonly tookMs: number;
  readonly bytes: number;
  readonly spans: readonly ShownSpan[];
}

/** One time says little: the first order at a spec is slower than those that follow. */
const TIMED_ORDERS = 7;

/**
 * Places some orders for their time, and one for its spans.
 *
 * @param label shown before it, such as the spec
 */
export async function traceOrder(
  shop: ShopProcess,
  collector: OtlpCollector,
  label: string,
  headers?: Readonly<Record<string, string>>,
): Promise<TracedOrder> {
  const times: number[] = [];
  for (let order = 0; order < TIMED_ORDERS; order++) times.push(await shop.order(headers));
  // Their spans are dropped: those of the next order are shown.
  await new Promise((resolve) => setTimeout(resolve, 6 * EXPORTED_EVERY));
  collector.drain();
  await shop.order(headers);
  await settled(collector);
  const tookMs = times.sort((a, b) => a - b)[Math.floor(TIMED_ORDERS / 2)]!;
  return { label, tookMs, ...collector.traceOf(ORDER) };
}

/** What was exported comes with the next batches: waits until the trace is there, and two looks at it are alike. */
async function settled(collector: OtlpCollector): Promise<void> {
  let seen = -1;
  for (let look = 0; look < 40; look++) {
    await new Promise((resolve) => setTimeout(resolve, 4 * EXPORTED_EVERY));
    const { length } = collector.traceOf(ORDER).spans;
    if (length > 0 && length === seen) return;
    seen = length;
  }
}

/** What it cost, and its trace. */
export function showOrder(say: Say, { label, spans, tookMs, bytes }: TracedOrder): void {
  const cost = `${spans.length} spans, ${bytes.toLocaleString('en')} bytes; an order took ${tookMs.toFixed(1)} ms (median of ${TIMED_ORDERS})`;
  say(`${bold(label.padEnd(44))}${yellow(cost)}`);
  const root = spans.find(({ name }) => name === ORDER);
  say(...(root === undefined ? [] : spanTree(spans, root)), '');
}
