import { Module } from '@nestjs/common';
import { NestLensModule } from 'nest-lens';
import { DatabaseModule } from '../database/database.module.js';
import { CatalogController } from './catalog.controller.js';
import { CatalogService } from './catalog.service.js';
import { catalogSpans } from './catalog.span-groups.js';
import { StockService } from './stock.service.js';

@Module({
  imports: [NestLensModule.forFeature(catalogSpans), DatabaseModule],
  controllers: [CatalogController],
  providers: [CatalogService, StockService],
  exports: [StockService],
})
export class CatalogModule {}
