import { describe, expect, it } from 'vitest';
import {
  Controller,
  Get,
  NotFoundException,
  Scope,
  UseGuards,
  UseInterceptors,
  UsePipes,
} from '@nestjs/common';
import type { INestApplication, INestMicroservice, Provider, Type } from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { MessagePattern, Payload, RpcException, Transport } from '@nestjs/microservices';
import { SpanStatusCode } from '@opentelemetry/api';
import { SpanGroup, SpanGroupInterceptor } from 'nest-lens';
import { express, fastify } from '../support/adapters.js';
import {
  everythingSaid,
  type LensApp,
  lensApp,
  type LensAppBuilder,
  namesOf,
  parentIdOf,
  theSpan,
} from '../support/lens-app.js';
import { closeAfterTest, guardTransportTests } from '../support/close-after-test.js';
import { notingGuard, notingPipe } from '../support/noting-enhancers.js';
import { type Answer, answerOf, connectTo } from './tcp-microservice.js';
import { Timeline } from '../support/timeline.js';

describe.each([express, fastify])('a hybrid application, on $name', (platform) => {
  guardTransportTests();

  interface HybridApp extends LensApp {
    send(pattern: string, data?: unknown): Promise<Answer>;
  }

  /** One application that answers HTTP and TCP. */
  async function startHybrid(builder: LensAppBuilder, inheritAppConfig: boolean): Promise<HybridApp> {
    let microservice: INestMicroservice | undefined;
    const lens = await builder
      .configure((app) => {
        microservice = app.connectMicroservice(
          { transport: Transport.TCP, options: { host: '127.0.0.1', port: 0 } },
          { inheritAppConfig },
        );
      })
      .start();
    closeAfterTest(() => lens.close());
    await lens.app.startAllMicroservices();
    const client = await connectTo(microservice!);
    return Object.assign(lens, {
      send: (pattern: string, data: unknown = {}) => answerOf(client, pattern, data),
    });
  }

  function ordersOn(timeline: Timeline): Type<unknown> {
    @Controller('orders')
    @UseGuards(notingGuard(timeline))
    class OrdersController {
      @Get()
      @SpanGroup('orders')
      list(): string {
        return 'list';
      }

      @MessagePattern('read')
      @SpanGroup('orders')
      read(@Payload(notingPipe(timeline)) id: number): number {
        timeline.note('called');
        timeline.mark();
        return id;
      }

      @MessagePattern('refuse')
      @SpanGroup('orders')
      refuse(): never {
        throw new RpcException('no such order');
      }
    }
    return OrdersController;
  }

  const globally: Provider = { provide: APP_INTERCEPTOR, useExisting: SpanGroupInterceptor };
  type Bind = (builder: LensAppBuilder) => LensAppBuilder;
  const bindings: [string, Bind, (inherits: boolean) => boolean][] = [
    ['the decorator alone', (builder) => builder, () => false],
    ['APP_INTERCEPTOR', (builder) => builder.providers(globally), (inherits) => inherits],
    [
      'useGlobalInterceptors',
      (builder) =>
        builder.configure((app: INestApplication) => {
          app.useGlobalInterceptors(app.get(SpanGroupInterceptor));
        }),
      (inherits) => inherits,
    ],
  ];

  describe.each([true, false])('with inheritAppConfig %s', (inherits) => {
    it.each(bindings)(
      'N4, N6: %s gives one span a call, of a request and of a message, wider where the interceptor runs',
      async (_title, bind, isWide) => {
        const timeline = new Timeline();
        const builder = lensApp(platform).groups('orders').controllers(ordersOn(timeline));
        bind(builder.forRoot({ telemetry: { spanProcessors: [builder.tracker, timeline] } }));
        const hybrid = await startHybrid(builder, inherits);

        expect(await hybrid.send('read', 7)).toEqual({ values: [7] });
        expect(timeline.spanStarts).toEqual(
          isWide(inherits) ? ['guards run', 'pipes run'] : ['pipes run', 'called'],
        );
        expect(await hybrid.send('refuse')).toMatchObject({ error: { message: 'no such order' } });
        expect((await hybrid.get('/orders')).text).toBe('list');

        const spans = await hybrid.spans();
        const read = theSpan(spans, 'OrdersController.read');
        expect(namesOf(spans)).toEqual([
          'OrdersController.list',
          'OrdersController.read',
          'OrdersController.refuse',
          'marker',
        ]);
        expect(parentIdOf(theSpan(spans, 'marker'))).toBe(read.spanContext().spanId);
        expect(read.attributes).toEqual({
          'nestlens.group': 'orders',
          'nestjs.controller': 'OrdersController',
          'nestjs.callback': 'read',
          'nestjs.type': 'rpc',
          'code.function.name': 'OrdersController.read',
        });
        expect(theSpan(spans, 'OrdersController.list').attributes).toMatchObject({
          'nestjs.type': 'http',
          'http.route': '/orders',
        });
        expect(theSpan(spans, 'OrdersController.refuse').status).toMatchObject({
          code: SpanStatusCode.ERROR,
          message: 'no such order',
        });
        expect(everythingSaid()).toEqual([]);
      },
    );

    it('N6: bound to the controller, the interceptor widens the span of its messages', async () => {
      const timeline = new Timeline();
      @UseInterceptors(SpanGroupInterceptor)
      @UsePipes(notingPipe(timeline))
      @UseGuards(notingGuard(timeline))
      @SpanGroup('orders')
      @Controller()
      class OrdersController {
        @MessagePattern('read')
        read(@Payload() id: number): number {
          timeline.note('called');
          return id;
        }
      }
      const builder = lensApp(platform).groups('orders').controllers(OrdersController);
      builder.forRoot({ telemetry: { spanProcessors: [builder.tracker, timeline] } });
      const hybrid = await startHybrid(builder, inherits);

      expect(await hybrid.send('read', 7)).toEqual({ values: [7] });
      expect(timeline.spanStarts).toEqual(['guards run', 'pipes run']);
      expect(namesOf(await hybrid.spans())).toEqual(['OrdersController.read']);
    });

    describe('a method that handles both', () => {
      class BothController {
        @Get(':id')
        @MessagePattern('both')
        both(): never {
          throw new NotFoundException('no such order');
        }
      }
      const attributes = (name: string, type: object): object => ({
        'nestlens.group': 'orders',
        'nestjs.controller': name,
        'nestjs.callback': 'both',
        'code.function.name': `${name}.both`,
        ...type,
      });

      it('I10, I12: with the decorator alone, its spans have no type, and every throw is an error', async () => {
        @SpanGroup('orders')
        @Controller('orders')
        class OrdersController extends BothController {}
        const hybrid = await startHybrid(
          lensApp(platform).groups('orders').controllers(OrdersController),
          inherits,
        );
        expect((await hybrid.get('/orders/7')).status).toBe(404);
        expect(await hybrid.send('both')).toHaveProperty('error');
        const spans = await hybrid.spans();

        expect(spans.map((span) => span.attributes)).toEqual([
          attributes('OrdersController', {}),
          attributes('OrdersController', {}),
        ]);
        expect(spans.map((span) => span.status.code)).toEqual([SpanStatusCode.ERROR, SpanStatusCode.ERROR]);
      });

      it('I10, I12: with the interceptor, each span has the type of its call', async () => {
        @UseInterceptors(SpanGroupInterceptor)
        @SpanGroup('orders')
        @Controller('orders')
        class OrdersController extends BothController {}
        const hybrid = await startHybrid(
          lensApp(platform).groups('orders').controllers(OrdersController),
          inherits,
        );
        expect((await hybrid.get('/orders/7')).status).toBe(404);
        expect(await hybrid.send('both')).toHaveProperty('error');
        const spans = await hybrid.spans();

        expect(spans.map((span) => span.attributes)).toEqual([
          attributes('OrdersController', { 'nestjs.type': 'http', 'http.route': '/orders/:id' }),
          attributes('OrdersController', { 'nestjs.type': 'rpc' }),
        ]);
        expect(spans.map((span) => span.status.code)).toEqual([SpanStatusCode.UNSET, SpanStatusCode.ERROR]);
      });
    });

    it('I1: off, no request and no message makes a span', async () => {
      const timeline = new Timeline();
      const builder = lensApp(platform).groups('orders', 'payment').spec('payment');
      builder.controllers(ordersOn(timeline)).providers(globally);
      const hybrid = await startHybrid(builder, inherits);
      await hybrid.send('refuse');
      await hybrid.get('/orders');

      expect(hybrid.tracker.started).toBe(0);
    });

    it('N4: request-scoped handlers of messages give a span each', async () => {
      @Controller({ scope: Scope.REQUEST })
      class OrdersController {
        @MessagePattern('read')
        @SpanGroup('orders')
        read(@Payload() id: number): number {
          return id;
        }
      }
      const builder = lensApp(platform).groups('orders').controllers(OrdersController).providers(globally);
      const hybrid = await startHybrid(builder, inherits);

      expect(await Promise.all([1, 2, 3].map((id) => hybrid.send('read', id)))).toEqual(
        [1, 2, 3].map((id) => ({ values: [id] })),
      );
      expect(namesOf(await hybrid.spans())).toEqual(Array(3).fill('OrdersController.read'));
    });
  });

  it.each([
    ['the decorator alone claims no type', false, [undefined, undefined], [undefined, undefined]],
    ['the interceptor knows which one it was', true, ['http', 'rpc'], ['/orders', undefined]],
  ] as const)(
    'N4, N6: of a handler of requests and messages, %s',
    async (_title, isIntercepted, types, routes) => {
      @Controller('orders')
      class OrdersController {
        @Get()
        @MessagePattern('list')
        @SpanGroup('orders')
        list(): string {
          return 'list';
        }
      }
      const builder = lensApp(platform).groups('orders').controllers(OrdersController);
      const hybrid = await startHybrid(isIntercepted ? builder.providers(globally) : builder, true);

      expect((await hybrid.get('/orders')).text).toBe('list');
      expect(await hybrid.send('list')).toEqual({ values: ['list'] });
      const spans = await hybrid.spans();
      expect(namesOf(spans)).toEqual(['OrdersController.list', 'OrdersController.list']);
      expect(spans.map((span) => span.attributes['nestjs.type'])).toEqual(types);
      expect(spans.map((span) => span.attributes['http.route'])).toEqual(routes);
    },
  );
});
