import { describe, expect, it } from 'vitest';
import { Controller, ForbiddenException, Get, Param, ParseUUIDPipe, Sse, UseGuards } from '@nestjs/common';
import type { CanActivate } from '@nestjs/common';
import { SpanStatusCode } from '@opentelemetry/api';
import { Observable, of } from 'rxjs';
import { onEachPlatform } from '../../support/adapters.js';
import type { HttpPlatform } from '../../support/adapters.js';
import { inOrders } from '../../support/in-orders.js';
import { lensApp } from '../../support/lens-app.js';

const { UNSET } = SpanStatusCode;

onEachPlatform('a request that does not reach its handler', (platform: HttpPlatform) => {
  describe.each(['decorated', 'intercepted'] as const)('%s', (binding) => {
    it('I9: a request that a guard refuses makes no span', async () => {
      class Closed implements CanActivate {
        canActivate(): boolean {
          return false;
        }
      }
      class Forbidding implements CanActivate {
        canActivate(): boolean {
          throw new ForbiddenException('not you');
        }
      }
      @Controller('orders')
      class OrdersController {
        @Get('closed')
        @UseGuards(Closed)
        @inOrders(binding)
        closed(): string {
          return 'never';
        }

        @Get('forbidden')
        @UseGuards(Forbidding)
        @inOrders(binding)
        forbidden(): string {
          return 'never';
        }
      }
      const lens = await lensApp(platform).groups('orders').controllers(OrdersController).start();
      const replies = [await lens.get('/orders/closed'), await lens.get('/orders/forbidden')];

      expect(replies.map((reply) => reply.status)).toEqual([403, 403]);
      expect(lens.tracker.started).toBe(0);
      expect(lens.inFlight()).toEqual([]);
    });

    it.each(['orders', 'orders/events'])(
      'N6, I12: a pipe that rejects (%s) leaves no span open',
      async (path) => {
        @Controller('orders')
        class OrdersController {
          @Get(':id')
          @inOrders(binding)
          one(@Param('id', ParseUUIDPipe) id: string): string {
            return id;
          }

          @Sse('events/:id')
          @inOrders(binding)
          events(@Param('id', ParseUUIDPipe) _id: string): Observable<object> {
            return of({ data: 'a' });
          }
        }
        const lens = await lensApp(platform).groups('orders').controllers(OrdersController).start();
        const reply = await lens.get(`/${path}/not-a-uuid`);
        const spans = await lens.spans();

        expect(reply.status).toBe(400);
        expect(lens.inFlight()).toEqual([]);
        expect(spans).toHaveLength(binding === 'intercepted' ? 1 : 0);
        for (const span of spans) expect(span.status.code).toBe(UNSET);
      },
    );
  });

  it('I9: middleware that throws leaves no span open', async () => {
    @Controller('orders')
    class OrdersController {
      @Get()
      @inOrders('intercepted')
      handle(): string {
        return 'never';
      }
    }
    const lens = await lensApp(platform)
      .groups('orders')
      .controllers(OrdersController)
      .configure((app) => {
        app.use(() => {
          throw new Error('middleware');
        });
      })
      .start();
    const reply = await lens.get('/orders');

    expect(reply.status).toBe(500);
    expect(lens.tracker.started).toBe(0);
  });

  it('I9: 404 for a route that does not exist makes no span', async () => {
    @Controller('orders')
    class OrdersController {
      @Get()
      @inOrders('intercepted')
      handle(): string {
        return 'never';
      }
    }
    const lens = await lensApp(platform).groups('orders').controllers(OrdersController).start();

    expect((await lens.get('/nowhere')).status).toBe(404);
    expect(lens.tracker.started).toBe(0);
  });
});
