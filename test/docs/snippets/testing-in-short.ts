import { expect, it } from '@jest/globals';
import { Test } from '@nestjs/testing';
import { createLensTestbed } from 'nest-lens/testing';
import { AppModule } from './orders.module.js';

// #region testing-in-short
it('makes a span for a read, with the id of the order', async () => {
  await using testbed = await createLensTestbed({ spec: 'order_read' });
  const testing = await Test.createTestingModule({ imports: [AppModule] }).compile();
  const app = testing.createNestApplication();
  await app.listen(0, '127.0.0.1');

  await fetch(`${await app.getUrl()}/orders/7`);
  await app.close();

  expect(testbed.span('orders.read').attributes).toMatchObject({ 'order.id': '7' });
});
// #endregion
