// #region span-group-decorator
import { Controller, Get, Injectable, Param } from '@nestjs/common';
import { NoSpanGroup, SpanGroup } from 'nest-lens';

@SpanGroup('orders') // every handler of the controller
@Controller('orders')
export class OrdersController {
  @Get()
  list() {
    return ['1', '2'];
  }

  @Get('health')
  @NoSpanGroup() // but this one
  health() {
    return 'up';
  }

  @Get(':id')
  @SpanGroup('order_read', { name: 'orders.read', attributes: (id: string) => ({ 'order.id': id }) })
  read(@Param('id') id: string) {
    return { id };
  }
}

@Injectable()
export class OrderJobs {
  @SpanGroup('order_jobs') // any method: of a cron job, an event or a queue handler, a service
  async cleanUp() {
    return 'clean';
  }
}
// #endregion
