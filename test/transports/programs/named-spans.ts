import 'reflect-metadata';
import type { AddressInfo, Server } from 'node:net';
import { Controller, Get, Inject, Injectable } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { trace } from '@opentelemetry/api';
import { InMemorySpanExporter } from '@opentelemetry/sdk-trace-base';
import { NestLensModule, SpanGroup } from 'nest-lens';

// Spans whose names are given, and spans whose names come from classes.
@Injectable()
@SpanGroup('orders', { name: 'Stock' })
class StockService {
  take(): string {
    return 'taken';
  }
}

@Injectable()
@SpanGroup('orders')
class MailService {
  send(): string {
    return 'sent';
  }
}

@SpanGroup('orders', { name: 'Orders' })
@Controller('orders')
class OrdersController {
  constructor(
    @Inject(StockService) private readonly stock: StockService,
    @Inject(MailService) private readonly mail: MailService,
  ) {}

  @Get()
  list(): string {
    return this.stock.take() + this.mail.send();
  }

  @Get('one')
  @SpanGroup('orders', { name: 'orders.read' })
  read(): string {
    return 'one';
  }
}

class AppModule {}

const exporter = new InMemorySpanExporter();
const app = await NestFactory.create(
  {
    module: AppModule,
    imports: [
      NestLensModule.forRoot({
        registrations: [{ namespace: 'shop', groups: ['orders'] }],
        config: { enabled: true, spanGroups: 'orders', metricsEnabled: false },
        telemetry: { spanExporter: exporter },
      }),
    ],
    controllers: [OrdersController],
    providers: [StockService, MailService],
  },
  { logger: ['warn', 'error'] },
);
await app.listen(0, '127.0.0.1');
const { port } = (app.getHttpServer() as Server).address() as AddressInfo;
for (const path of ['/orders', '/orders/one']) await fetch(`http://127.0.0.1:${port}${path}`);
await (trace.getTracerProvider() as any).getDelegate().forceFlush();
process.on('disconnect', () => process.exit(0));
process.send!({
  className: MailService.name,
  spans: exporter.getFinishedSpans().map(({ name }) => name),
});
