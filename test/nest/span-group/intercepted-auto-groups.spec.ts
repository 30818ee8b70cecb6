import { describe, expect, it } from 'vitest';
import {
  Controller,
  Get,
  type OnModuleInit,
  Param,
  ParseIntPipe,
  RequestMethod,
  UseInterceptors,
} from '@nestjs/common';
import { SpanGroupInterceptor } from 'nest-lens';
import { express } from '../../support/adapters.js';
import { guardEachTest, lensApp } from '../../support/lens-app.js';

describe('SpanGroupInterceptor on a handler that autoGroups has put into a group', () => {
  guardEachTest();

  it('N5: gives one span a call of a handler that somebody has put something over', async () => {
    @Controller('orders')
    @UseInterceptors(SpanGroupInterceptor)
    class OrdersController {
      @Get()
      list(): string {
        return 'listed';
      }
    }
    /** Wraps the gate before Nest maps routes. */
    class Wrapping implements OnModuleInit {
      onModuleInit(): void {
        const { list } = OrdersController.prototype;
        const above = function (this: OrdersController): string {
          return list.call(this);
        };
        Reflect.defineMetadata('path', '/', above);
        Reflect.defineMetadata('method', RequestMethod.GET, above);
        OrdersController.prototype.list = above;
      }
    }
    const lens = await lensApp(express)
      .groups('orders')
      .forRoot({ autoGroups: { handlers: 'handlers' } })
      .controllers(OrdersController)
      .providers(Wrapping)
      .start();
    expect((await lens.get('/orders')).text).toBe('listed');

    const spans = await lens.spans();
    expect(spans.map(({ name, attributes }) => [name, attributes['nestlens.group']])).toEqual([
      ['OrdersController.list', 'handlers'],
    ]);
  });

  it('N5, N6: gives one span a call, which covers the pipes too', async () => {
    @Controller('orders')
    @UseInterceptors(SpanGroupInterceptor)
    class OrdersController {
      @Get(':id')
      read(@Param('id', ParseIntPipe) id: number): string {
        return String(id);
      }
    }
    const lens = await lensApp(express)
      .groups('orders')
      .forRoot({ autoGroups: { handlers: 'handlers' } })
      .controllers(OrdersController)
      .start();
    expect((await lens.get('/orders/7')).text).toBe('7');
    expect((await lens.get('/orders/seven')).status).toBe(400);

    const spans = await lens.spans();
    expect(spans.map(({ name, attributes }) => [name, attributes['nestlens.group']])).toEqual([
      ['OrdersController.read', 'handlers'],
      ['OrdersController.read', 'handlers'],
    ]);
  });
});
