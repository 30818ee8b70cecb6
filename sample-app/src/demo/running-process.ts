import type { Checklist } from './checklist.js';
import { OtlpCollector } from './otlp-collector.js';
import { bold, dim, yellow } from './palette.js';
import { showPreview, showSignedRequest } from './look-before-you-switch.js';
import { ShopProcess } from './shop-process.js';
import { EXPORTED_EVERY, type Say, showOrder, traceOrder, type TracedOrder } from './traced-order.js';

const CONFIGURED = 'default';
const EVERYTHING = 'all';
const WITH_SQL = 'default,pg';
/** In seconds. */
const OVERRIDE_LASTS = 3;

/**
 * One process, the same order again and again, and the spans of everybody in it: NestLens's own and those of the instrumentations
 * of http, express and pg. An override switches them while it runs, and ends by itself.
 */
export async function showRunningProcess(say: Say, checklist: Checklist): Promise<void> {
  const collector = await OtlpCollector.start();
  const shop = await ShopProcess.start({
    NEST_LENS_ENABLED: 'true',
    NEST_LENS_SPAN_GROUPS: CONFIGURED,
    NEST_LENS_METRICS_ENABLED: 'false',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_BSP_SCHEDULE_DELAY: String(EXPORTED_EVERY),
  });
  try {
    for (let warmUp = 0; warmUp < 20; warmUp++) await shop.order();
    const ordinary = await traceOrder(shop, collector, CONFIGURED);
    await shop.override(EVERYTHING, OVERRIDE_LASTS);
    const everything = await traceOrder(shop, collector, EVERYTHING);
    await shop.override(WITH_SQL, OVERRIDE_LASTS);
    const withSql = await traceOrder(shop, collector, WITH_SQL);
    for (const order of [everything, ordinary, withSql]) showOrder(say, order);

    await shop.override(CONFIGURED, OVERRIDE_LASTS);
    await showPreview(shop, say, checklist);
    await showSignedRequest(shop, collector, say, checklist);

    await shop.override(WITH_SQL, OVERRIDE_LASTS);
    const begin = performance.now();
    say(bold('The override ends by itself'));
    let { spec } = await shop.document();
    for (let shown = ''; spec.override !== null; { spec } = await shop.document()) {
      const leftMs = Math.max(0, Date.parse(spec.override.expiresAt) - Date.now());
      const left = `${(leftMs / 1_000).toFixed(0)} s left`;
      if (left !== shown) say(`${yellow(`in force: ${spec.active}`)}   ${dim(left)}`);
      shown = left;
      await new Promise((resolve) => setTimeout(resolve, 50));
      if (performance.now() - begin > OVERRIDE_LASTS * 2_000) break;
    }
    const after = await traceOrder(shop, collector, spec.active);
    say(
      `${yellow(`in force: ${spec.active}`)}   ${dim(`and the next order makes ${after.spans.length} spans again`)}`,
    );

    checklist.equal('running: the spec after the override', spec.active, CONFIGURED);
    checklist.equal(
      'running: the spans of an order, before, everything, with SQL, after',
      counts(ordinary, everything, withSql, after),
      [3, 22, 10, 3],
    );
    for (const { label: name, spans } of [ordinary, everything, withSql, after]) {
      const ids = new Set(spans.map((span) => span.spanContext().spanId));
      const orphans = spans.filter(({ parentSpanContext: parent }) => parent && !ids.has(parent.spanId));
      checklist.equal(`running, ${name}: the spans whose parent was never exported`, orphans.length, 0);
    }
    checklist.equal(
      'running: default exports at most a fifth of everything',
      ordinary.bytes * 5 <= everything.bytes,
      true,
    );
  } finally {
    await shop.stop();
    collector.stop();
  }
}

function counts(...orders: readonly TracedOrder[]): number[] {
  return orders.map(({ spans }) => spans.length);
}
