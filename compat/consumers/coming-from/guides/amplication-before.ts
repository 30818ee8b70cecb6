// #region amplication-before
import { OpenTelemetryModule, Span, Traceable } from '@amplication/opentelemetry-nestjs';
import { type CanActivate, Controller, Get, Injectable, Module, Param, UseGuards } from '@nestjs/common';

@Injectable()
export class ShopGuard implements CanActivate {
  canActivate() {
    return true;
  }
}

@Injectable()
@Traceable()
export class StockService {
  async take(product: string) {
    return { product, left: 41 };
  }
}

@Injectable()
export class PriceService {
  @Span('of a product')
  async of(product: string) {
    return product.length;
  }
}

@Controller('orders')
@UseGuards(ShopGuard)
export class OrdersController {
  constructor(
    private readonly stock: StockService,
    private readonly prices: PriceService,
  ) {}

  @Get(':product')
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
