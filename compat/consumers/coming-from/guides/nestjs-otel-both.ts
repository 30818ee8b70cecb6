import { Module } from '@nestjs/common';
import { NestLensModule } from 'nest-lens';
import { OpenTelemetryModule } from 'nestjs-otel';
import { shop, StockService } from './nestjs-otel-after.js';
import { OrdersController, PriceService, StockService as OldStockService } from './nestjs-otel-before.js';

// #region nestjs-otel-both
@Module({
  imports: [OpenTelemetryModule.forRoot(), NestLensModule.forRoot({ registrations: [shop] })],
  controllers: [OrdersController], // has @Span still
  providers: [
    { provide: OldStockService, useClass: StockService }, // has @SpanGroup
    PriceService,
  ],
})
export class AppModule {}
// #endregion
