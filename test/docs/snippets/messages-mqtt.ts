// #region messages-mqtt
import { Controller, Inject, Injectable } from '@nestjs/common';
import {
  type ClientProxy,
  Ctx,
  MessagePattern,
  MqttContext,
  MqttRecordBuilder,
  Payload,
} from '@nestjs/microservices';
import { SpanKind } from '@opentelemetry/api';
import { injectContext, SpanGroup } from 'nest-lens';

@Injectable()
export class OrdersProducer {
  constructor(@Inject('BROKER') private readonly broker: ClientProxy) {}

  place(product: string) {
    const userProperties = {};
    injectContext(userProperties);
    const message = new MqttRecordBuilder(product).setProperties({ userProperties }).build();
    return this.broker.send<string>('orders.place', message);
  }
}

@Controller()
export class OrdersConsumer {
  @MessagePattern('orders.place')
  @SpanGroup('orders', {
    kind: SpanKind.CONSUMER,
    carrier: (_product: string, mqtt: MqttContext) => mqtt.getPacket().properties?.userProperties,
  })
  place(@Payload() product: string, @Ctx() _mqtt: MqttContext) {
    return `placed ${product}`;
  }
}
// #endregion
