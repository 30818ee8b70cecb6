// #region typeorm
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { SpanGroup } from 'nest-lens';
import { Repository } from 'typeorm';
import { Product } from './product.js';

@Injectable()
@SpanGroup('products_db')
export class ProductsStore {
  constructor(@InjectRepository(Product) private readonly products: Repository<Product>) {}

  findAll() {
    return this.products.find(); // a promise: the span lasts until the rows are there
  }

  rename(id: number, name: string) {
    return this.products.update(id, { name });
  }
}
// #endregion
