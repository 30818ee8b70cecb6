import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Product } from './product.js';
import { run } from './running.js';
import { ProductsStore } from './typeorm.js';

test('the span of a method that returns a promise of TypeORM lasts until it settles', async () => {
  const { app, captured } = await run(['products_db'], {
    imports: [
      TypeOrmModule.forRoot({ type: 'sqljs', entities: [Product], synchronize: true }),
      TypeOrmModule.forFeature([Product]),
    ],
    providers: [ProductsStore],
  });
  const store = app.get(ProductsStore);
  const found = store.findAll();
  assert.deepEqual(captured.spans(), []);
  assert.deepEqual(await found, []);
  await store.rename(1, 'tea');
  await app.close();
  assert.deepEqual(
    captured.spans().map(({ name }) => name),
    ['ProductsStore.findAll', 'ProductsStore.rename'],
  );
});
