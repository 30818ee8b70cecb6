import { describe, expect, it } from 'vitest';
import { Injectable, Scope, type Type, UseGuards, UseInterceptors } from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { WsAdapter } from '@nestjs/platform-ws';
import {
  ConnectedSocket,
  MessageBody,
  type OnGatewayConnection,
  type OnGatewayDisconnect,
  SubscribeMessage,
  WebSocketGateway,
  type WsResponse,
} from '@nestjs/websockets';
import { trace } from '@opentelemetry/api';
import { managedSpan, NoSpanGroup, SpanGroup, SpanGroupInterceptor } from 'nest-lens';
import { Observable } from 'rxjs';
import { express, fastify } from '../support/adapters.js';
import {
  diagnostics,
  endedAt,
  type LensApp,
  lensApp,
  type LensAppBuilder,
  namesOf,
  parentIdOf,
  theSpan,
  until,
} from '../support/lens-app.js';
import { guardTransportTests } from '../support/close-after-test.js';
import { expectSpanLife, markersOf } from '../support/finished-spans.js';
import { type Binding, inOrders } from '../support/in-orders.js';
import { notingGuard, notingPipe } from '../support/noting-enhancers.js';
import { type ResultKind, turn, webSocketKinds } from '../support/result-kinds.js';
import { onceAKind } from '../support/once-a-kind.js';
import { Timeline } from '../support/timeline.js';
import { WebSocketClient } from './websocket-client.js';

function gatewayOf(kind: ResultKind, binding: Binding, timeline: Timeline): Type<unknown> {
  @WebSocketGateway()
  class OrdersGateway implements OnGatewayDisconnect {
    static leftAt = 0;

    @SubscribeMessage('orders')
    @UseGuards(notingGuard(timeline))
    @inOrders(binding)
    handle(@MessageBody(notingPipe(timeline)) _data: unknown): unknown {
      timeline.note('called');
      return kind.handle(timeline);
    }

    @SubscribeMessage('ping')
    ping(): WsResponse<boolean> {
      return { event: 'pong', data: trace.getActiveSpan() !== undefined };
    }

    handleDisconnect(): void {
      OrdersGateway.leftAt = Date.now();
    }
  }
  return OrdersGateway;
}

describe.each([express, fastify])('handlers of WebSocket messages, on $name', (platform) => {
  guardTransportTests();

  const start = (builder: LensAppBuilder): Promise<LensApp> =>
    builder.configure((app) => void app.useWebSocketAdapter(new WsAdapter(app))).start();

  async function startWith(
    kind: ResultKind,
    { binding, spec, timeline }: { binding: Binding; spec: string; timeline: Timeline },
  ): Promise<{ builder: LensAppBuilder; lens: LensApp; client: WebSocketClient; Gateway: Type<unknown> }> {
    const Gateway = gatewayOf(kind, binding, timeline);
    const builder = lensApp(platform).groups('orders', 'payment').spec(spec).providers(Gateway);
    builder.forRoot({ telemetry: { spanProcessors: [builder.tracker, timeline] } });
    const lens = await start(builder);
    return { builder, lens, client: await WebSocketClient.connectTo(lens), Gateway };
  }

  /** What a client receives for one message, up to the answer to a second one that it sends when the work has ended. */
  async function messagesOf(
    kind: ResultKind,
    client: WebSocketClient,
    timeline: Timeline,
  ): Promise<unknown[]> {
    client.send('orders');
    if (kind.clientLeaves) {
      await client.first(() => true);
      return client.received;
    }
    await timeline.has(kind.ends);
    client.send('ping');
    expect(await client.first((message) => message.event === 'pong')).toEqual({ event: 'pong', data: false });
    return client.received;
  }

  /** What the client receives without NestLens. */
  const plainAnswer = onceAKind(async (kind) => {
    const timeline = new Timeline();
    const lens = await start(lensApp(platform).providers(gatewayOf(kind, 'plain', timeline)));
    return messagesOf(kind, await WebSocketClient.connectTo(lens), timeline);
  });

  describe.each(['decorated', 'intercepted'] as const)('%s', (binding) => {
    it.each(webSocketKinds)(
      'I9, I12: $result gives one span of its life, and the same answer',
      async (kind) => {
        const expected = await plainAnswer(kind);
        const timeline = new Timeline();
        const app = await startWith(kind, { binding, spec: 'orders', timeline });
        const { builder, client } = app;

        expect(await messagesOf(kind, client, timeline)).toEqual(expected);
        if (kind.clientLeaves) client.socket.terminate();
        const span = await expectSpanLife(builder, timeline, { name: 'OrdersGateway.handle', kind, binding });
        expect(span.attributes).toEqual({
          'nestlens.group': 'orders',
          'nestjs.controller': 'OrdersGateway',
          'nestjs.callback': 'handle',
          'nestjs.type': 'ws',
          'code.function.name': 'OrdersGateway.handle',
          ...(kind.clientLeaves ? { 'nestlens.cancelled': true } : {}),
        });
        expect(parentIdOf(span)).toBeUndefined();
        if (kind.clientLeaves) {
          expect(
            Math.abs(endedAt(span) - (app.Gateway as unknown as { leftAt: number }).leftAt),
          ).toBeLessThan(100);
        }
        expect([app.lens.warnings, diagnostics()]).toEqual([[], []]);
      },
    );

    it.each(webSocketKinds)('I1, I11: off, $result gives no span, and the same answer', async (kind) => {
      const expected = await plainAnswer(kind);
      const timeline = new Timeline();
      const { builder, client } = await startWith(kind, { binding, spec: 'payment', timeline });

      expect(await messagesOf(kind, client, timeline)).toEqual(expected);
      expect(timeline.moments).not.toContain('span starts');
      expect(builder.exporter.spans.map(parentIdOf).filter((id) => id !== undefined)).toEqual([]);
    });

    it('I9: each of many clients that leave in the middle ends its own span, and the others go on', async () => {
      @WebSocketGateway()
      class OrdersGateway {
        @SubscribeMessage('watch')
        @inOrders(binding)
        watch(@MessageBody() id: number): Observable<WsResponse<number>> {
          trace.getActiveSpan()?.setAttribute('order.id', id);
          return new Observable((subscriber) => subscriber.next({ event: 'order', data: id }));
        }
      }
      const builder = lensApp(platform).groups('orders').providers(OrdersGateway);
      const lens = await start(builder);
      const clients = await Promise.all([0, 1, 2, 3].map(() => WebSocketClient.connectTo(lens)));
      for (const [id, client] of clients.entries()) {
        client.send('watch', id);
        await client.first((message) => message.data === id);
      }
      expect(lens.inFlight()).toHaveLength(4);
      for (const client of clients.slice(0, 2)) client.socket.close();
      expect(await until(() => lens.inFlight().length === 2)).toBe(true);
      clients[2]!.send('watch', 4);
      await clients[2]!.first((message) => message.data === 4);
      expect(lens.inFlight()).toHaveLength(3);
      for (const client of clients.slice(2)) client.socket.terminate();
      const spans = await lens.spans();
      expect(spans.map((span) => span.attributes['order.id']).sort()).toEqual([0, 1, 2, 3, 4]);
      expect(spans.map((span) => span.attributes['nestlens.cancelled'])).toEqual(Array(5).fill(true));
    });

    it('I9: messages at once, of one client, keep their own spans, each with its own child', async () => {
      @WebSocketGateway()
      class OrdersGateway {
        @SubscribeMessage('read')
        @inOrders(binding)
        async read(@MessageBody() id: number): Promise<WsResponse<number>> {
          trace.getActiveSpan()?.setAttribute('order.id', id);
          await new Promise((resolve) => setTimeout(resolve, (id * 7) % 20));
          await managedSpan('orders', `child ${id}`, turn);
          return { event: 'read', data: id };
        }
      }
      const lens = await start(lensApp(platform).groups('orders').providers(OrdersGateway));
      const client = await WebSocketClient.connectTo(lens);
      const ids = Array.from({ length: 30 }, (_, id) => id);
      for (const id of ids) client.send('read', id);
      await Promise.all(ids.map((id) => client.first((message) => message.data === id)));
      const spans = await lens.spans();

      expect(spans).toHaveLength(60);
      for (const id of ids) {
        const parent = spans.find((span) => span.attributes['order.id'] === id);
        expect(parentIdOf(theSpan(spans, `child ${id}`))).toBe(parent?.spanContext().spanId);
      }
    });

    it('N4: a request-scoped gateway gives a span a message', async () => {
      @Injectable({ scope: Scope.REQUEST })
      class Scoped {}
      @WebSocketGateway()
      class OrdersGateway {
        constructor(readonly scoped: Scoped) {}

        @SubscribeMessage('read')
        @inOrders(binding)
        read(): WsResponse<boolean> {
          return { event: 'read', data: this.scoped instanceof Scoped };
        }
      }
      const lens = await start(lensApp(platform).groups('orders').providers(OrdersGateway, Scoped));
      const client = await WebSocketClient.connectTo(lens);
      client.send('read');

      expect(await client.first(() => true)).toEqual({ event: 'read', data: true });
      expect(namesOf(await lens.spans())).toEqual(['OrdersGateway.read']);
    });
  });

  it('N4: on the class, above and below @WebSocketGateway, it takes the messages, and not what else the gateway does', async () => {
    const timeline = new Timeline();
    class Base implements OnGatewayConnection {
      handleConnection(): void {
        timeline.mark();
      }

      afterInit(): void {
        timeline.mark();
      }

      @SubscribeMessage('inherited')
      inherited(@ConnectedSocket() client: object): WsResponse<string> {
        return { event: 'done', data: this.format(typeof client) };
      }

      format(text: string): string {
        timeline.mark();
        return text;
      }
    }
    @SpanGroup('orders')
    @WebSocketGateway()
    class AboveGateway extends Base {
      @SubscribeMessage('own')
      own(): WsResponse<string> {
        return { event: 'done', data: 'own' };
      }
    }
    @WebSocketGateway({ path: '/below' })
    @SpanGroup('orders')
    class BelowGateway extends Base {
      @NoSpanGroup()
      @SubscribeMessage('out')
      out(): WsResponse<string> {
        return { event: 'done', data: 'out' };
      }
    }
    const builder = lensApp(platform).groups('orders').providers(AboveGateway, BelowGateway);
    const lens = await start(builder);
    const above = await WebSocketClient.connectTo(lens);
    const below = await WebSocketClient.connectTo({ ...lens, url: () => lens.url('/below') });
    above.send('own');
    await above.first((message) => message.data === 'own');
    above.send('inherited');
    await above.first((message) => message.data === 'object');
    below.send('out');
    await below.first((message) => message.data === 'out');
    below.send('inherited');
    await below.first((message) => message.data === 'object');

    const spans = await lens.spans();
    expect(namesOf(spans.filter((span) => !markersOf(spans).includes(span)))).toEqual([
      'AboveGateway.inherited',
      'AboveGateway.own',
      'BelowGateway.inherited',
    ]);
    const parents = markersOf(spans).map(parentIdOf);
    expect(parents.filter((id) => id !== undefined)).toHaveLength(2);
  });

  it('N5, N6: with the interceptor global, on the gateway and on the handler, a message gives one span', async () => {
    @UseInterceptors(SpanGroupInterceptor)
    @WebSocketGateway()
    class OrdersGateway {
      @SubscribeMessage('read')
      @UseInterceptors(SpanGroupInterceptor)
      @SpanGroup('orders')
      read(): WsResponse<string> {
        return { event: 'read', data: 'done' };
      }
    }
    const builder = lensApp(platform).groups('orders').providers(OrdersGateway, {
      provide: APP_INTERCEPTOR,
      useExisting: SpanGroupInterceptor,
    });
    const lens = await start(builder);
    const client = await WebSocketClient.connectTo(lens);
    client.send('read');
    await client.first(() => true);

    expect(namesOf(await lens.spans())).toEqual(['OrdersGateway.read']);
  });
});
