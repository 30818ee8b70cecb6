import { Module } from '@nestjs/common';
import { NestLensModule } from 'nest-lens';
import { CatalogModule } from '../catalog/catalog.module.js';
import { DatabaseModule } from '../database/database.module.js';
import { PaymentsModule } from '../payments/payments.module.js';
import { OrderStatusService } from './order-status.service.js';
import { OrdersController } from './orders.controller.js';
import { OrdersService } from './orders.service.js';
import { ordersSpans } from './orders.span-groups.js';
import { ReportsController } from './reports.controller.js';

/**
 * The modules that it imports register their span groups first, as Nest starts imported modules before their
 * importers; so the preset that borrows from them finds the groups there, and no warning is due.
 */
@Module({
  imports: [NestLensModule.forFeature(ordersSpans), CatalogModule, DatabaseModule, PaymentsModule],
  controllers: [OrdersController, ReportsController],
  providers: [OrdersService, OrderStatusService],
})
export class OrdersModule {}
