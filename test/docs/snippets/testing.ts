// #region testing
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { createLensTestbed, type LensTestbed } from 'nest-lens/testing';
import { AppModule } from './orders.module.js';

describe('GET /orders/:id', () => {
  let testbed: LensTestbed;
  let app: INestApplication;

  beforeEach(async () => {
    testbed = await createLensTestbed({ spec: 'orders' });
    const testing = await Test.createTestingModule({ imports: [AppModule] }).compile();
    app = testing.createNestApplication();
    await app.listen(0, '127.0.0.1');
  });

  afterEach(async () => {
    await app.close();
    await testbed.dispose();
  });

  const read = async () => fetch(`${await app.getUrl()}/orders/7`);

  it('makes no span with the groups that we run with', async () => {
    await read();
    expect(testbed.tree()).toBe('');
  });

  it('makes one span while order_read is on, with the id of the order', async () => {
    await testbed.withGroups('order_read', read);
    expect(testbed.tree()).toBe('orders.read [order_read]');
    expect(testbed.span('orders.read').attributes).toMatchObject({ 'order.id': '7' });
  });
});
// #endregion
