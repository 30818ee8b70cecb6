// #region amplication-after
import { type CanActivate, Controller, Get, Injectable, Module, Param, UseGuards } from '@nestjs/common';
import { defineSpanGroups, NestLensModule, SpanGroup } from 'nest-lens';

export const shop = defineSpanGroups({
  namespace: 'shop',
  groups: ['requests', 'pipeline', 'stock', 'prices'],
  presets: { default: ['requests'], per_request: ['requests', 'stock', 'prices'] },
});

@Injectable()
export class ShopGuard implements CanActivate {
  canActivate() {
    return true;
  }
}

@Injectable()
@SpanGroup(shop.group('stock'))
export class StockService {
  async take(product: string) {
    return { product, left: 41 };
  }
}

@Injectable()
export class PriceService {
  @SpanGroup(shop.group('prices'), { name: 'PriceService.of a product' })
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
  imports: [
    NestLensModule.forRoot({
      registrations: [shop],
      autoGroups: { handlers: 'requests', enhancers: 'pipeline' },
    }),
  ],
  controllers: [OrdersController],
  providers: [StockService, PriceService],
})
export class AppModule {}
// #endregion
