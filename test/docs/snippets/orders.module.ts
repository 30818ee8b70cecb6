import { Module } from '@nestjs/common';
import { NestLensModule } from 'nest-lens';
import { OrdersController } from './span-group-decorator.js';

/** What the snippet on tests tests. */
@Module({
  imports: [NestLensModule.forFeature({ namespace: 'shop', groups: ['orders', 'order_read'] })],
  controllers: [OrdersController],
})
export class OrdersModule {}
