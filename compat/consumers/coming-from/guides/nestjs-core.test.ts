import './nestjs-core-sdk.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attributesOf, spanLines } from './collected.js';
import { AppModule as Before } from './nestjs-core-before.js';
import { AppModule as Both } from './nestjs-core-both.js';
import { orderOf } from './request.js';

const ORDER = { product: 'tea', left: 41 };
/** It is made while the application is created, which is before anything is known of groups. */
const AT_THE_START = 'Create Nest App';
const BEFORE = [AT_THE_START, 'OrdersController.place', 'OrdersController.place > place'];

test('instrumentation-nestjs-core: makes the spans and attributes that the guide says', async () => {
  assert.deepEqual(await orderOf(Before), ORDER);
  const { 'url.full': url, ...attributes } = attributesOf('OrdersController.place');
  assert.equal(url, '/orders/tea');
  assert.deepEqual(attributes, {
    component: '@nestjs/core',
    'nestjs.version': '11.2.10',
    'nestjs.type': 'request_context',
    'nestjs.controller': 'OrdersController',
    'nestjs.callback': 'place',
    'http.route': '/orders/:product',
    'http.request.method': 'GET',
  });
  assert.deepEqual(spanLines(), BEFORE);
});

test('instrumentation-nestjs-core: side by side, the spec says whose spans there are', async () => {
  assert.deepEqual(await orderOf(Both, 'nestjs_core'), ORDER);
  assert.deepEqual(spanLines(), BEFORE);
  assert.deepEqual(await orderOf(Both, 'requests'), ORDER);
  assert.deepEqual(spanLines(), [AT_THE_START, 'OrdersController.place']);
});
