import { describe, expect, it } from 'vitest';
import {
  All,
  Controller,
  Delete,
  Get,
  Head,
  Options,
  Patch,
  Post,
  Put,
  Search,
  Sse,
  type Type,
} from '@nestjs/common';
import { CommandHandler, EventsHandler, QueryHandler, Saga } from '@nestjs/cqrs';
import { OnEvent } from '@nestjs/event-emitter';
import { Mutation, Query, ResolveField, ResolveReference, Resolver, Subscription } from '@nestjs/graphql';
import {
  EventPattern,
  GrpcMethod,
  GrpcStreamCall,
  GrpcStreamMethod,
  MessagePattern,
} from '@nestjs/microservices';
import { Cron, Interval, Timeout } from '@nestjs/schedule';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { SpanGroup } from 'nest-lens';
import { handlerType, isHandlerClass } from '../../../src/nest/span-group/handler-kind.js';

/** A method that real decorators of Nest have marked. */
function marked(...decorators: MethodDecorator[]): object {
  class Marked {
    handle(): void {}
  }
  const descriptor = Object.getOwnPropertyDescriptor(Marked.prototype, 'handle')!;
  const last = decorators.reduceRight<PropertyDescriptor>(
    (current, decorate) => (decorate(Marked.prototype, 'handle', current) as typeof current) ?? current,
    descriptor,
  );
  return last.value as object;
}

const handlers: Record<string, [string, MethodDecorator][]> = {
  http: [
    ['@Get', Get()],
    ['@Post', Post('path')],
    ['@Put', Put(['a', 'b'])],
    ['@Patch', Patch()],
    ['@Delete', Delete()],
    ['@Head', Head()],
    ['@Options', Options()],
    ['@All', All()],
    ['@Search', Search()],
    ['@Sse', Sse('events')],
  ],
  rpc: [
    ['@MessagePattern', MessagePattern<string>('orders')],
    ['@MessagePattern of an object', MessagePattern<object>({ cmd: 'orders' })],
    ['@EventPattern', EventPattern<string>('placed')],
    ['@GrpcMethod', GrpcMethod('Orders', 'Read')],
    ['@GrpcStreamMethod', GrpcStreamMethod('Orders', 'Read')],
    ['@GrpcStreamCall', GrpcStreamCall('Orders', 'Read')],
  ],
  ws: [['@SubscribeMessage', SubscribeMessage('orders')]],
  graphql: [
    ['@Query', Query(() => String)],
    ['@Mutation', Mutation(() => String)],
    ['@Subscription', Subscription(() => String)],
    ['@ResolveField', ResolveField(() => String)],
    ['@ResolveReference', ResolveReference()],
  ],
};

const methods: [string, MethodDecorator[]][] = [
  ['@Cron', [Cron('* * * * * *')]],
  ['@Interval', [Interval(10)]],
  ['@Timeout', [Timeout(10)]],
  ['@OnEvent', [OnEvent('placed')]],
  ['@Saga', [Saga()]],
  ['no decorator', []],
];

describe('what tells handlers from other methods', () => {
  const table = Object.entries(handlers).flatMap(([type, decorators]) =>
    decorators.map(([title, decorator]) => ({ type, title, decorator })),
  );

  it.each(table)("N4: $title marks a handler of type $type, also through our decorator's gate", (row) => {
    const { type, decorator } = row;
    const ours = SpanGroup('orders');

    expect(handlerType(marked(decorator))).toBe(type);
    expect(handlerType(marked(ours, decorator))).toBe(type);
    expect(handlerType(marked(decorator, ours))).toBe(type);
  });

  it.each(methods)('N4: %s marks no handler', (_title, decorators) => {
    expect(handlerType(marked(...decorators))).toBeUndefined();
  });

  it('N4: controllers, gateways and resolvers are classes of handlers, also by inheritance; others are not', () => {
    const classes: [ClassDecorator, boolean][] = [
      [Controller(), true],
      [WebSocketGateway(), true],
      [Resolver(), true],
      [Resolver(() => String), true],
      [CommandHandler(class PlaceOrder {}), false],
      [QueryHandler(class ReadOrder {}), false],
      [EventsHandler(class OrderPlaced {}), false],
    ];
    const seen = classes.map(([decorate, isHandler]) => {
      class Base {}
      decorate(Base);
      class Derived extends (Base as Type<object>) {}
      return [isHandlerClass(Base), isHandlerClass(Derived), isHandler];
    });

    expect(seen).toEqual(classes.map(([, isHandler]) => [isHandler, isHandler, isHandler]));
  });
});
