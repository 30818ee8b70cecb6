import { Injectable } from '@nestjs/common';
import { DatabaseService } from '../database/database.service.js';
import { type CatalogEntry, toCatalogEntries } from './catalog-entry.js';
import type { Product } from './product.js';

@Injectable()
export class CatalogService {
  constructor(private readonly database: DatabaseService) {}

  async list(): Promise<CatalogEntry[]> {
    return toCatalogEntries(
      await this.database.query<Product>('SELECT products', 'select * from products order by id'),
    );
  }

  async find(id: number): Promise<CatalogEntry | undefined> {
    const [entry] = toCatalogEntries(
      await this.database.query<Product>('SELECT product', 'select * from products where id = $1', [id]),
    );
    return entry;
  }
}
