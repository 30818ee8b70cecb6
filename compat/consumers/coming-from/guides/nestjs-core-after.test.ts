import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attributesOf, spanLines, startSdk } from './collected.js';
import { AppModule as After } from './nestjs-core-after.js';
import { orderOf } from './request.js';

startSdk();

test('instrumentation-nestjs-core: after the steps of the guide a request has one span of the same name', async () => {
  assert.deepEqual(await orderOf(After, 'default'), { product: 'tea', left: 41 });
  assert.deepEqual(attributesOf('OrdersController.place'), {
    'nestlens.group': 'requests',
    'code.function.name': 'OrdersController.place',
    'nestjs.type': 'http',
    'nestjs.controller': 'OrdersController',
    'nestjs.callback': 'place',
    'http.route': '/orders/:product',
  });
  assert.deepEqual(spanLines(), ['OrdersController.place']);
});
