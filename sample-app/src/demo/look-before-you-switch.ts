import type { Checklist } from './checklist.js';
import type { OtlpCollector } from './otlp-collector.js';
import { bold, dim, yellow } from './palette.js';
import type { ShopProcess } from './shop-process.js';
import { type Say, traceOrder } from './traced-order.js';

const COUNTED_FOR_SECONDS = 2;
const MOST_ORDERS = 100;

/** What groups would cost, counted while they are off. */
export async function showPreview(shop: ShopProcess, say: Say, checklist: Checklist): Promise<void> {
  let isOver = false;
  const preview = shop.preview('all', COUNTED_FOR_SECONDS).finally(() => (isOver = true));
  let orders = 0;
  // The shop has 200 tea cups.
  for (; !isOver && orders < MOST_ORDERS; orders++) {
    await shop.order();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const { groups, perSecond, bytesPerSecond } = await preview;

  say(bold('What everything would cost, before it is on: POST /lens/groups/preview'));
  for (const group of groups.slice(0, 4)) {
    say(`${group.name.padEnd(20)}${`${group.perSecond.toFixed(0)} spans a second`.padStart(22)}`);
  }
  const sum = `${perSecond.toFixed(0)} spans and about ${(bytesPerSecond / 1_000).toFixed(0)} kB a second`;
  say(
    yellow(`in all ${sum}`) + dim(`, counted for ${COUNTED_FOR_SECONDS} s, in which ${orders} orders came`),
    '',
  );
  const spans = Object.fromEntries(groups.map((group) => [group.name, group.spans]));
  const perOrder = (spans['pg'] ?? 0) / (spans['order'] ?? 1);
  checklist.equal('preview: pg would make seven spans for each order', Math.abs(perOrder - 7) < 0.5, true);
}

/** A request that carries a signed header is traced in full; the spec stays as it is. */
export async function showSignedRequest(
  shop: ShopProcess,
  collector: OtlpCollector,
  say: Say,
  checklist: Checklist,
): Promise<void> {
  const headers = shop.signed('all');
  const signed = await traceOrder(shop, collector, 'signed', headers);
  const ordinary = await traceOrder(shop, collector, 'ordinary');
  say(bold('One request in full, by a signed header; the others stay as they are'));
  say(
    `${yellow(`${signed.spans.length} spans`)}   ${dim(`x-lens-groups: ${headers['x-lens-groups']?.slice(0, 40)}…`)}`,
  );
  say(`${yellow(`${ordinary.spans.length} spans`)}    ${dim('without it')}`, '');
  checklist.equal(
    'signed: the spans of an order with and without the header',
    [signed.spans.length, ordinary.spans.length],
    [22, 3],
  );
}
