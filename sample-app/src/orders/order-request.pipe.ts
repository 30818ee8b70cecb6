import { BadRequestException, Injectable, type PipeTransform } from '@nestjs/common';
import type { StockLine } from '../catalog/stock-line.js';
import { GREATEST_INTEGER } from '../database/row-id.pipe.js';
import type { OrderRequest } from './order.js';

const EXAMPLE = '{ "lines": [{ "productId": 1, "quantity": 2 }], "card": "4242424242424242" }';

@Injectable()
export class OrderRequestPipe implements PipeTransform<unknown, OrderRequest> {
  transform(body: unknown): OrderRequest {
    if (!isOrderRequest(body)) {
      throw new BadRequestException(`An order looks like ${EXAMPLE}, with each product in one line`);
    }
    return body;
  }
}

function isOrderRequest(body: unknown): body is OrderRequest {
  if (!isRecord(body) || typeof body['card'] !== 'string') return false;
  const lines: unknown = body['lines'];
  if (!Array.isArray(lines) || lines.length === 0 || !lines.every(isStockLine)) return false;
  return new Set(lines.map(({ productId }) => productId)).size === lines.length;
}

function isStockLine(line: unknown): line is StockLine {
  return isRecord(line) && isCount(line['productId']) && isCount(line['quantity']);
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) > 0 && Number(value) <= GREATEST_INTEGER;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
