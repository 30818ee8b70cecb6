import { describe, expect, it } from 'vitest';
import { Controller, Get, Param, Res, Sse, type Type, UseGuards } from '@nestjs/common';
import { express, fastify } from '../support/adapters.js';
import { diagnostics, endedAt, lensApp, theSpan } from '../support/lens-app.js';
import { guardTransportTests } from '../support/close-after-test.js';
import { expectSpanLife } from '../support/finished-spans.js';
import { type Binding, inOrders } from '../support/in-orders.js';
import { notingGuard, notingPipe } from '../support/noting-enhancers.js';
import { httpKinds, type HttpResultKind } from '../support/result-kinds.js';
import { Timeline } from '../support/timeline.js';

function controllerOf(kind: HttpResultKind, binding: Binding, timeline: Timeline): Type<unknown> {
  const Route = kind.route === 'sse' ? Sse : Get;
  const Response: () => ParameterDecorator =
    kind.takesResponse === undefined ? () => () => undefined : () => Res(kind.takesResponse);
  @Controller('orders')
  class OrdersController {
    @Route(':id')
    @UseGuards(notingGuard(timeline))
    @inOrders(binding)
    handle(@Param('id', notingPipe(timeline)) _id: string, @Response() response?: any): any {
      timeline.note('called');
      return kind.handle(timeline, response);
    }
  }
  return OrdersController;
}

describe.each([express, fastify])('the life of a span of an HTTP handler, on $name', (platform) => {
  guardTransportTests();

  describe.each(['decorated', 'intercepted'] as const)('%s', (binding) => {
    it.each(httpKinds)('I9, I12: $result gives one span of its life', async (kind) => {
      const timeline = new Timeline();
      const builder = lensApp(platform).controllers(controllerOf(kind, binding, timeline));
      builder.groups('orders').forRoot({ telemetry: { spanProcessors: [builder.tracker, timeline] } });
      const lens = await builder.start();
      let leftAt: number | undefined;
      if (kind.clientLeaves) {
        const client = lens.open('/orders/7');
        // An observable that isn't a stream of events is answered when it completes: there is nothing to wait for.
        await (kind.ends === 'unsubscribed' && kind.route !== 'sse'
          ? timeline.has('called')
          : client.firstChunk);
        leftAt = await client.disconnect();
      } else {
        await lens.get('/orders/7');
      }

      const span = await expectSpanLife(builder, timeline, {
        name: 'OrdersController.handle',
        kind,
        binding,
      });
      if (leftAt !== undefined) expect(endedAt(span) - leftAt).toBeLessThan(100);
      expect([lens.warnings, diagnostics()]).toEqual([[], []]);
    });

    it('I9: a client that leaves a generator that waits ends its span within 100 ms, as cancelled', async () => {
      @Controller('orders')
      class OrdersController {
        @Get()
        @inOrders(binding)
        async *handle(): AsyncGenerator<string> {
          yield 'a';
          await new Promise(() => undefined);
        }
      }
      const lens = await lensApp(platform).groups('orders').controllers(OrdersController).start();
      const client = lens.open('/orders');
      await client.firstChunk;
      const leftAt = await client.disconnect();
      const span = theSpan(await lens.spans(), 'OrdersController.handle');

      expect(endedAt(span) - leftAt).toBeLessThan(100);
      expect(span.attributes['nestlens.cancelled']).toBe(true);
    });
  });
});
