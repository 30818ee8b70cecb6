import { Module } from '@nestjs/common';
import { NestLensModule } from 'nest-lens';
import { OrdersController } from './span-group-decorator.js';

/** What the snippets on tests test. */
@Module({
  imports: [NestLensModule.forFeature({ namespace: 'shop', groups: ['orders', 'order_read'] })],
  controllers: [OrdersController],
})
export class OrdersModule {}

@Module({ imports: [NestLensModule.forRoot(), OrdersModule] })
export class AppModule {}
