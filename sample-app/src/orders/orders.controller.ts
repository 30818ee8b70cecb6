import {
  Body,
  Controller,
  Get,
  type MessageEvent,
  NotFoundException,
  Param,
  Post,
  Sse,
} from '@nestjs/common';
import { SpanGroup } from 'nest-lens';
import { map, type Observable } from 'rxjs';
import { RowIdPipe } from '../database/row-id.pipe.js';
import { OrderRequestPipe } from './order-request.pipe.js';
import { OrderStatusService } from './order-status.service.js';
import type { Order, OrderRequest } from './order.js';
import { OrdersService } from './orders.service.js';
import { ordersSpans } from './orders.span-groups.js';

@Controller('orders')
export class OrdersController {
  constructor(
    private readonly orders: OrdersService,
    private readonly orderStatus: OrderStatusService,
  ) {}

  @Post()
  @SpanGroup(ordersSpans.group('order'), {
    name: 'orders.place',
    attributes: (order: OrderRequest) => ({ 'order.lines': order.lines.length }),
  })
  place(@Body(OrderRequestPipe) order: OrderRequest): Promise<Order> {
    return this.orders.place(order);
  }

  @Get(':id')
  @SpanGroup(ordersSpans.group('order_status'), {
    name: 'orders.read',
    attributes: (id: number) => ({ 'order.id': id }),
  })
  async read(@Param('id', RowIdPipe) id: number): Promise<Order> {
    const order = await this.orders.find(id);
    if (!order) throw new NotFoundException(`There is no order ${id}`);
    return order;
  }

  /** The span covers the stream, from the request to the last event. */
  @Sse(':id/status')
  @SpanGroup(ordersSpans.group('order_status'), {
    name: 'orders.status',
    attributes: (id: number) => ({ 'order.id': id }),
  })
  async status(@Param('id', RowIdPipe) id: number): Promise<Observable<MessageEvent>> {
    if (!(await this.orders.find(id))) throw new NotFoundException(`There is no order ${id}`);
    return this.orderStatus.watch(id).pipe(map((status) => ({ data: { id, status } })));
  }
}
