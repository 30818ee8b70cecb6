// #region testing
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { NestLensModule } from 'nest-lens';
import { type CapturedSpans, captureSpans } from 'nest-lens/testing';
import { OrdersModule } from './orders.module.js';

describe('OrdersModule', () => {
  let captured: CapturedSpans;
  let app: INestApplication;

  beforeEach(async () => {
    captured = captureSpans();
    const lens = NestLensModule.forRoot({
      config: { enabled: true, spanGroups: 'order_read', metricsEnabled: false },
      telemetry: { spanProcessors: [captured.spanProcessor] },
    });
    const testing = await Test.createTestingModule({ imports: [lens, OrdersModule] }).compile();
    app = testing.createNestApplication();
    await app.listen(0, '127.0.0.1');
  });

  afterEach(() => app.close());

  it('makes one span for a read, with the id of the order', async () => {
    await fetch(`${await app.getUrl()}/orders/7`);

    const [span] = captured.named('orders.read');
    expect(span?.attributes).toMatchObject({ 'order.id': '7', 'nestlens.group': 'order_read' });
    expect(captured.spans()).toHaveLength(1);
  });
});
// #endregion
