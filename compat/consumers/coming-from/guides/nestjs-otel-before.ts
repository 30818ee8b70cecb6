// #region nestjs-otel-before
import { Controller, Get, Injectable, Module, Param } from '@nestjs/common';
import { OpenTelemetryModule, Span, Traceable, TraceService } from 'nestjs-otel';

@Injectable()
@Traceable()
export class StockService {
  async take(product: string) {
    return { product, left: 41 };
  }
}

@Injectable()
export class PriceService {
  constructor(private readonly traces: TraceService) {}

  @Span('prices.of', { attributes: { currency: 'EUR' } })
  async of(product: string) {
    const span = this.traces.startSpan('prices.round');
    const price = Math.round(product.length * 1.1);
    span.end();
    return price;
  }
}

@Controller('orders')
export class OrdersController {
  constructor(
    private readonly stock: StockService,
    private readonly prices: PriceService,
  ) {}

  @Get(':product')
  @Span((product: string) => ({ attributes: { 'order.product': product } }))
  async place(@Param('product') product: string) {
    return { ...(await this.stock.take(product)), price: await this.prices.of(product) };
  }
}

@Module({
  imports: [OpenTelemetryModule.forRoot()],
  controllers: [OrdersController],
  providers: [StockService, PriceService],
})
export class AppModule {}
// #endregion
