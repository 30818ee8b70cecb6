import { Controller, Get, NotFoundException, Param } from '@nestjs/common';
import { SpanGroup } from 'nest-lens';
import { RowIdPipe } from '../database/row-id.pipe.js';
import type { CatalogEntry } from './catalog-entry.js';
import { CatalogService } from './catalog.service.js';
import { catalogSpans } from './catalog.span-groups.js';

const CATALOG = catalogSpans.group('catalog');

/** On the class, the decorator puts each handler into the group. */
@Controller('products')
@SpanGroup(CATALOG)
export class CatalogController {
  constructor(private readonly catalog: CatalogService) {}

  @Get()
  list(): Promise<CatalogEntry[]> {
    return this.catalog.list();
  }

  /** On a method it wins over the class's, here to add an attribute. */
  @Get(':id')
  @SpanGroup(CATALOG, { attributes: (id: number) => ({ 'product.id': id }) })
  async read(@Param('id', RowIdPipe) id: number): Promise<CatalogEntry> {
    const product = await this.catalog.find(id);
    if (!product) throw new NotFoundException(`There is no product ${id}`);
    return product;
  }
}
