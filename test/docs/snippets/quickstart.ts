// #region quickstart
import { Controller, Get, Injectable, Module, Param } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { defineSpanGroups, managedSpan, NestLensModule, SpanGroup } from 'nest-lens';

const shop = defineSpanGroups({
  namespace: 'shop',
  groups: ['orders', 'stock'],
  presets: { default: ['orders'], per_request: ['orders', 'stock'] },
});

@Injectable()
class StockService {
  take(product: string) {
    return managedSpan(shop.group('stock'), 'stock.take', async (span) => {
      span?.setAttribute('stock.product', product);
      return { product, left: 41 };
    });
  }
}

@Controller('orders')
class OrdersController {
  constructor(private readonly stock: StockService) {}

  @Get(':product')
  @SpanGroup(shop.group('orders'))
  place(@Param('product') product: string) {
    return this.stock.take(product);
  }
}

@Module({
  imports: [NestLensModule.forRoot({ registrations: [shop] })],
  controllers: [OrdersController],
  providers: [StockService],
})
class AppModule {}

async function bootstrap() {
  const app = await NestFactory.create(AppModule);
  app.enableShutdownHooks(); // so that Ctrl+C exports the last spans
  await app.listen(process.env.PORT ?? 3000);
}
void bootstrap();
// #endregion

// Makes this a module of its own for the compiler; it is run by being imported.
export {};
