import { ConflictException } from '@nestjs/common';
import type { StockLine } from './stock-line.js';

export class OutOfStockException extends ConflictException {
  constructor({ productId, quantity }: StockLine) {
    super(`There are not ${quantity} of product ${productId} in stock`);
  }
}
