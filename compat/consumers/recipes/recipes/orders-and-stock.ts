import assert from 'node:assert/strict';
import { managedSpan, nestLensConfigFromEnv, setupTelemetry, SpanRegistry } from 'nest-lens/core';

/** Beside a provider of somebody else's: two spans, one of them in a group that is off. */
export async function placeOrder(): Promise<void> {
  SpanRegistry.register('shop', ['orders', 'stock']);
  const config = { ...nestLensConfigFromEnv({ env: {} }), enabled: true, spanGroups: 'orders' };
  const telemetry = await setupTelemetry({ ...config, metricsEnabled: false });
  assert.equal(telemetry.mode, 'attach');
  managedSpan('orders', 'orders.place', () => managedSpan('stock', 'stock.take', () => undefined));
  await telemetry.shutdown();
}
