// #region messages-rabbitmq
import { Controller, Inject, Injectable } from '@nestjs/common';
import {
  type ClientProxy,
  Ctx,
  MessagePattern,
  Payload,
  RmqContext,
  RmqRecordBuilder,
} from '@nestjs/microservices';
import { SpanKind } from '@opentelemetry/api';
import { injectContext, SpanGroup } from 'nest-lens';

@Injectable()
export class OrdersProducer {
  constructor(@Inject('BROKER') private readonly broker: ClientProxy) {}

  place(product: string) {
    const headers = {};
    injectContext(headers);
    const message = new RmqRecordBuilder(product).setOptions({ headers }).build();
    return this.broker.send<string>('orders.place', message);
  }
}

@Controller()
export class OrdersConsumer {
  @MessagePattern('orders.place')
  @SpanGroup('orders', {
    kind: SpanKind.CONSUMER,
    carrier: (_product: string, rmq: RmqContext) => rmq.getMessage().properties.headers,
  })
  place(@Payload() product: string, @Ctx() _rmq: RmqContext) {
    return `placed ${product}`;
  }
}
// #endregion
