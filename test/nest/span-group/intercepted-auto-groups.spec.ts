import { describe, expect, it } from 'vitest';
import { Controller, Get, Param, ParseIntPipe, UseInterceptors } from '@nestjs/common';
import { SpanGroupInterceptor } from 'nest-lens';
import { express } from '../../support/adapters.js';
import { guardEachTest, lensApp } from '../../support/lens-app.js';

describe('SpanGroupInterceptor on a handler that autoGroups has put into a group', () => {
  guardEachTest();

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
