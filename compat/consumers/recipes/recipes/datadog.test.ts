import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { placeOrder } from './orders-and-stock.js';
import { startReceiver } from './receiver.js';

// Its timers keep the process alive.
after(() => setImmediate(() => process.exit()));

test('spans of groups that are on go to the agent of Datadog', async () => {
  const receiver = await startReceiver();
  process.env['DD_TRACE_AGENT_URL'] = `http://127.0.0.1:${receiver.port}`;
  process.env['DD_INSTRUMENTATION_TELEMETRY_ENABLED'] = 'false';
  await import('./datadog.js');
  await placeOrder();
  assert.doesNotMatch(await receiver.textWith('orders.place'), /stock\.take/);
  receiver.stop();
});
