// #region messages-redis
import { Controller, Inject, Injectable } from '@nestjs/common';
import { type ClientProxy, MessagePattern } from '@nestjs/microservices';
import { SpanKind } from '@opentelemetry/api';
import { injectContext, SpanGroup } from 'nest-lens';

interface Message {
  headers: object;
  product: string;
}

@Injectable()
export class OrdersProducer {
  constructor(@Inject('BROKER') private readonly broker: ClientProxy) {}

  place(product: string) {
    const headers = {};
    injectContext(headers);
    return this.broker.send<string, Message>('orders.place', { headers, product });
  }
}

@Controller()
export class OrdersConsumer {
  @MessagePattern('orders.place')
  @SpanGroup('orders', { kind: SpanKind.CONSUMER, carrier: (message: Message) => message.headers })
  place({ product }: Message) {
    return `placed ${product}`;
  }
}
// #endregion
