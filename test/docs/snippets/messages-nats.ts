// #region messages-nats
import { headers } from '@nats-io/transport-node';
import { Controller, Inject, Injectable } from '@nestjs/common';
import {
  type ClientProxy,
  Ctx,
  MessagePattern,
  NatsContext,
  NatsRecordBuilder,
  Payload,
} from '@nestjs/microservices';
import { SpanKind } from '@opentelemetry/api';
import { injectContext, SpanGroup } from 'nest-lens';

@Injectable()
export class OrdersProducer {
  constructor(@Inject('BROKER') private readonly broker: ClientProxy) {}

  place(product: string) {
    const carrier = headers();
    injectContext(carrier);
    const message = new NatsRecordBuilder(product).setHeaders(carrier).build();
    return this.broker.send<string>('orders.place', message);
  }
}

@Controller()
export class OrdersConsumer {
  @MessagePattern('orders.place')
  @SpanGroup('orders', {
    kind: SpanKind.CONSUMER,
    carrier: (_product: string, nats: NatsContext) => nats.getHeaders(),
  })
  place(@Payload() product: string, @Ctx() _nats: NatsContext) {
    return `placed ${product}`;
  }
}
// #endregion
