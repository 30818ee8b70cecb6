// #region nestjs-otel-after
import { Controller, Get, Injectable, Module, Param } from '@nestjs/common';
import { defineSpanGroups, managedSpan, NestLensModule, SpanGroup } from 'nest-lens';

export const shop = defineSpanGroups({
  namespace: 'shop',
  groups: ['orders', 'stock', 'prices'],
  presets: { default: ['orders'], per_request: ['orders', 'stock', 'prices'] },
});

@Injectable()
@SpanGroup(shop.group('stock'))
export class StockService {
  async take(product: string) {
    return { product, left: 41 };
  }
}

@Injectable()
export class PriceService {
  @SpanGroup(shop.group('prices'), { name: 'prices.of', attributes: () => ({ currency: 'EUR' }) })
  async of(product: string) {
    return managedSpan(shop.group('prices'), 'prices.round', () => Math.round(product.length * 1.1));
  }
}

@Controller('orders')
export class OrdersController {
  constructor(
    private readonly stock: StockService,
    private readonly prices: PriceService,
  ) {}

  @Get(':product')
  @SpanGroup(shop.group('orders'), { attributes: (product: string) => ({ 'order.product': product }) })
  async place(@Param('product') product: string) {
    return { ...(await this.stock.take(product)), price: await this.prices.of(product) };
  }
}

@Module({
  imports: [NestLensModule.forRoot({ registrations: [shop] })],
  controllers: [OrdersController],
  providers: [StockService, PriceService],
})
export class AppModule {}
// #endregion
