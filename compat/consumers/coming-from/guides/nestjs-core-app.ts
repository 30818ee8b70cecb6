import { Controller, Get, Param } from '@nestjs/common';

@Controller('orders')
export class OrdersController {
  @Get(':product')
  async place(@Param('product') product: string) {
    return { product, left: 41 };
  }
}
