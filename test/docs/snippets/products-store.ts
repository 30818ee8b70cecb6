// #region products-store
import { Injectable } from '@nestjs/common';
import { eq } from 'drizzle-orm';
import { pgTable, serial, text } from 'drizzle-orm/pg-core';
import type { PgRemoteDatabase } from 'drizzle-orm/pg-proxy';
import { SpanGroup } from 'nest-lens';

const products = pgTable('products', { id: serial('id'), name: text('name') });

@Injectable()
@SpanGroup('products_db')
export class ProductsStore {
  constructor(private readonly db: PgRemoteDatabase) {}

  // The query itself. It is executed where it is awaited; the span covers that.
  byName(name: string) {
    return this.db.select().from(products).where(eq(products.name, name));
  }

  // A promise. The query is executed here.
  async rename(id: number, name: string) {
    await this.db.update(products).set({ name }).where(eq(products.id, id));
  }
}
// #endregion
