import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attributesOf, spanLines, startSdk } from './collected.js';
import { AppModule as After } from './nestjs-otel-after.js';
import { AppModule as Before } from './nestjs-otel-before.js';
import { AppModule as Both } from './nestjs-otel-both.js';
import { orderOf } from './request.js';

startSdk();
const ORDER = { product: 'tea', left: 41, price: 3 };
const SPANS = [
  'OrdersController.place',
  'OrdersController.place > StockService.take',
  'OrdersController.place > prices.of',
  'prices.of > prices.round',
];

test('nestjs-otel: after the steps of the guide the spans and their attributes are those from before', async () => {
  assert.deepEqual(await orderOf(Before), ORDER);
  const [handler, price] = [attributesOf('OrdersController.place'), attributesOf('prices.of')];
  assert.deepEqual([handler, price], [{ 'order.product': 'tea' }, { currency: 'EUR' }]);
  assert.deepEqual(spanLines(), SPANS);

  assert.deepEqual(await orderOf(After), ORDER);
  assert.deepEqual(attributesOf('OrdersController.place'), {
    ...handler,
    'nestlens.group': 'orders',
    'code.function.name': 'OrdersController.place',
    'nestjs.controller': 'OrdersController',
    'nestjs.callback': 'place',
    'nestjs.type': 'http',
    'http.route': '/orders/:product',
  });
  assert.deepEqual(attributesOf('prices.of'), {
    ...price,
    'nestlens.group': 'prices',
    'code.function.name': 'PriceService.of',
  });
  assert.deepEqual(spanLines(), SPANS);
});

test('nestjs-otel: one variable takes the spans away and brings them back', async () => {
  await orderOf(After, 'default');
  assert.deepEqual(spanLines(), ['OrdersController.place']);
  await orderOf(After, 'per_request,-prices');
  assert.deepEqual(spanLines(), SPANS.slice(0, 2));
});

test('nestjs-otel: side by side, the spans of both are one trace', async () => {
  assert.deepEqual(await orderOf(Both), ORDER);
  assert.deepEqual(spanLines(), SPANS);
});
