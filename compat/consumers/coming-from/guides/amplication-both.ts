import { OpenTelemetryModule } from '@amplication/opentelemetry-nestjs';
import { Module } from '@nestjs/common';
import { NestLensModule } from 'nest-lens';
import { OrdersController, PriceService, shop, StockService } from './amplication-after.js';

// #region amplication-both
@Module({
  imports: [
    OpenTelemetryModule.forRoot(), // takes handlers, guards, pipes and interceptors, as before
    NestLensModule.forRoot({ registrations: [shop] }), // takes what has @SpanGroup
  ],
  controllers: [OrdersController],
  providers: [StockService, PriceService],
})
export class AppModule {}
// #endregion
