import { describe, expect, it } from 'vitest';
import {
  applyDecorators,
  Controller,
  type INestApplication,
  Injectable,
  NotFoundException,
  SetMetadata,
} from '@nestjs/common';
import { ExternalContextCreator } from '@nestjs/core';
import { SpanStatusCode } from '@opentelemetry/api';
import { SpanGroup } from 'nest-lens';
import { of } from 'rxjs';
import type { Observable } from 'rxjs';
import { guardEachTest, theSpan } from '../../support/lens-app.js';
import { runIn } from '../../support/run-in.js';

describe('@SpanGroup on handlers that are not HTTP', () => {
  guardEachTest();

  // The metadata that Nest's own packages leave: those packages needn't be installed.
  const pattern = (name: string): MethodDecorator =>
    applyDecorators(
      SetMetadata('microservices:pattern', [name]),
      SetMetadata('microservices:handler_type', 1),
    );
  const message = (name: string): MethodDecorator =>
    applyDecorators(SetMetadata('websockets:message_mapping', true), SetMetadata('message', name));
  const query = (name: string): MethodDecorator =>
    applyDecorators(
      SetMetadata('graphql:resolver_type', 'Query'),
      SetMetadata('graphql:resolver_name', name),
    );

  @SpanGroup('orders')
  @Controller()
  class OrdersConsumer {
    @pattern('orders.find')
    find(): never {
      throw new NotFoundException();
    }

    @pattern('orders.list')
    list(): string {
      return this.format();
    }

    format(): string {
      return 'consumed';
    }
  }

  @SpanGroup('orders')
  @SetMetadata('websockets:is_gateway', true)
  @Injectable()
  class OrdersGateway {
    @message('find')
    find(): never {
      throw new NotFoundException();
    }

    @message('list')
    list(): Observable<string> {
      return of(this.format());
    }

    format(): string {
      return 'pushed';
    }
  }

  @SpanGroup('orders')
  @Injectable()
  class OrdersResolver {
    @query('order')
    find(): never {
      throw new NotFoundException();
    }

    @query('orders')
    async list(): Promise<string> {
      return this.format();
    }

    format(): string {
      return 'resolved';
    }
  }

  type Handlers = Record<'list' | 'find', () => unknown>;

  /** Made by hand: Nest would open a socket for a gateway that it knows of. */
  const handlerOf = (
    app: INestApplication,
    instance: Handlers,
    key: keyof Handlers,
    type: string,
  ): (() => Promise<unknown>) =>
    app
      .get(ExternalContextCreator)
      .create(
        instance,
        instance[key],
        key,
        undefined,
        undefined,
        undefined,
        undefined,
        undefined,
        type as never,
      );

  it.each([
    ['rpc', OrdersConsumer, 'consumed'],
    ['ws', OrdersGateway, 'pushed'],
    ['graphql', OrdersResolver, 'resolved'],
  ] as const)(
    'N4: of type %s: a class takes its handlers, and only those',
    async (type, Handlers, result) => {
      const lens = await runIn(['orders'], [], async ({ app }) => {
        const handler = handlerOf(app, new Handlers(), 'list', type);
        expect(await handler()).toBe(result);
      });

      const span = theSpan(lens.exporter.spans, `${Handlers.name}.list`);
      expect(lens.exporter.spans).toHaveLength(1);
      expect(span.attributes).toMatchObject({
        'nestlens.group': 'orders',
        'nestjs.controller': Handlers.name,
        'nestjs.callback': 'list',
      });
      expect(Object.keys(span.attributes).filter((key) => key.startsWith('http.'))).toEqual([]);
    },
  );

  it.each([
    ['rpc', OrdersConsumer, 'ERROR'],
    ['ws', OrdersGateway, 'ERROR'],
    ['graphql', OrdersResolver, 'UNSET'],
  ] as const)(
    'I12: of type %s: an HttpException below 500 is an error of a message, and an answer of GraphQL',
    async (type, Handlers, status) => {
      const lens = await runIn(['orders'], [], async ({ app }) => {
        await expect(handlerOf(app, new Handlers(), 'find', type)()).rejects.toThrow(NotFoundException);
      });

      const span = theSpan(lens.exporter.spans, `${Handlers.name}.find`);
      expect(SpanStatusCode[span.status.code]).toBe(status);
    },
  );
});
