import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Controller, Get, type PipeTransform, Query } from '@nestjs/common';
import { managedSpan, SpanGroup } from 'nest-lens';
import { InvoicesController } from './crud-controller.js';
import { TracingModule } from './for-all-handlers.js';
import { run } from './running.js';

test('a mixin names its spans, and its subclass has them', async () => {
  const { app, captured, url } = await run(['invoices'], { controllers: [InvoicesController] });
  assert.deepEqual(await (await fetch(`${url}/invoices`)).json(), ['invoices']);
  await app.close();
  assert.deepEqual(
    captured.spans().map(({ name }) => name),
    ['invoices.list'],
  );
});

test('an interceptor for all widens the spans of decorated handlers, and makes none for the others', async () => {
  class SlowPipe implements PipeTransform {
    transform = (value: unknown) => managedSpan('pipes', 'pipe', () => value);
  }
  @Controller()
  class OrdersController {
    @Get('orders')
    @SpanGroup('orders')
    list(@Query('page', SlowPipe) page: string) {
      return [page];
    }

    @Get('health')
    health() {
      return 'up';
    }
  }
  const { app, captured, url } = await run(['orders', 'pipes'], {
    imports: [TracingModule],
    controllers: [OrdersController],
  });
  await fetch(`${url}/orders?page=1`);
  await fetch(`${url}/health`);
  await app.close();
  const [pipe, handler] = captured.spans();
  assert.deepEqual([pipe?.name, handler?.name], ['pipe', 'OrdersController.list']);
  assert.equal(pipe?.parentSpanContext?.spanId, handler?.spanContext().spanId);
  assert.equal(captured.spans().length, 2);
});
