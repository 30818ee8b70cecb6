import assert from 'node:assert/strict';
import { test } from 'node:test';
import { placeOrder } from './orders-and-stock.js';
import { startReceiver } from './receiver.js';

test('spans of groups that are on go to Sentry', async () => {
  const receiver = await startReceiver();
  process.env['SENTRY_DSN'] = `http://key@127.0.0.1:${receiver.port}/1`;
  await import('./sentry.js');
  await placeOrder();
  const { flush } = await import('@sentry/node');
  await flush(5_000);
  assert.doesNotMatch(await receiver.textWith('orders.place'), /stock\.take/);
  receiver.stop();
});
