import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppModule as After } from './amplication-after.js';
import { AppModule as Before } from './amplication-before.js';
import { AppModule as Both } from './amplication-both.js';
import { attributesOf, spanLines, startSdk } from './collected.js';
import { orderOf } from './request.js';

startSdk();
const ORDER = { product: 'tea', left: 41, price: 3 };
const FROM_THE_HANDLER = [
  'OrdersController.place',
  'OrdersController.place > PriceService.of a product',
  'OrdersController.place > StockService.take',
];

test('amplication: after the steps of the guide there is a span for each one from before', async () => {
  assert.deepEqual(await orderOf(Before), ORDER);
  const { 'nestjs.type': before, ...same } = attributesOf('OrdersController.place');
  assert.equal(before, 'handler');
  assert.deepEqual(spanLines(), ['OrdersController.ShopGuard', ...FROM_THE_HANDLER]);

  assert.deepEqual(await orderOf(After), ORDER);
  assert.deepEqual(attributesOf('OrdersController.place'), {
    ...same,
    'nestlens.group': 'requests',
    'code.function.name': 'OrdersController.place',
    'nestjs.type': 'http',
    'http.route': '/orders/:product',
  });
  assert.deepEqual(spanLines(), [...FROM_THE_HANDLER, 'ShopGuard.canActivate']);
});

test('amplication: guards are a group that is asked for', async () => {
  await orderOf(After, 'default');
  assert.deepEqual(spanLines(), ['OrdersController.place']);
  await orderOf(After, 'default,pipeline');
  assert.deepEqual(spanLines(), ['OrdersController.place', 'ShopGuard.canActivate']);
});

test('amplication: side by side, its handlers and the groups of services are one trace', async () => {
  assert.deepEqual(await orderOf(Both), ORDER);
  assert.deepEqual(spanLines(), ['OrdersController.ShopGuard', ...FROM_THE_HANDLER]);
});
