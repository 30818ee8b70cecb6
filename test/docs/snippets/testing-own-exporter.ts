// #region testing-own-exporter
import { expect, it } from '@jest/globals';
import { Test } from '@nestjs/testing';
import { NestLensModule } from 'nest-lens';
import { captureSpans } from 'nest-lens/testing';
import { OrdersModule } from './orders.module.js';

it('names the run on each span', async () => {
  const captured = captureSpans();
  const lens = NestLensModule.forRoot({
    config: { enabled: true, spanGroups: 'order_read', runId: 'test', metricsEnabled: false },
    telemetry: { spanProcessors: [captured.spanProcessor] },
  });
  const testing = await Test.createTestingModule({ imports: [lens, OrdersModule] }).compile();
  const app = testing.createNestApplication();
  await app.listen(0, '127.0.0.1');

  await fetch(`${await app.getUrl()}/orders/7`);
  await app.close();

  expect(captured.named('orders.read')[0]?.resource.attributes).toMatchObject({ 'nestlens.run_id': 'test' });
});
// #endregion
