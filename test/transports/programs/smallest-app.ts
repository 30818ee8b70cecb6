import 'reflect-metadata';
import { createRequire } from 'node:module';
import type { AddressInfo, Server } from 'node:net';
import { Controller, Get, Param, ParseIntPipe, UseInterceptors } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { trace } from '@opentelemetry/api';
import { InMemorySpanExporter } from '@opentelemetry/sdk-trace-base';

const require = createRequire(import.meta.url);

/** What a small application of the package as it is built answers, and the spans that it makes. */
async function runApp({ NestLensModule, SpanGroup, SpanGroupInterceptor }: typeof import('nest-lens')) {
  @Controller('orders')
  class OrdersController {
    @Get(':id')
    @UseInterceptors(SpanGroupInterceptor)
    @SpanGroup('orders')
    read(@Param('id', ParseIntPipe) id: number): object {
      return { id };
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
    },
    { logger: ['warn', 'error'] },
  );
  await app.listen(0, '127.0.0.1');
  const { port } = (app.getHttpServer() as Server).address() as AddressInfo;
  const replies = [];
  for (const path of ['/orders/7', '/orders/seven', '/lens/groups?sites=1']) {
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    replies.push({ status: response.status, body: await response.json() });
  }
  await (trace.getTracerProvider() as any).getDelegate().forceFlush();
  const spans = exporter.getFinishedSpans().map(({ name, attributes }) => ({ name, attributes }));
  await app.close();
  return { replies, spans };
}

// The build for `require` comes first: what it loads, it loads by `require`.
const required = await runApp(require('nest-lens') as typeof import('nest-lens'));
const imported = await runApp(await import('nest-lens'));
const findable: string[] = [];
for (const name of ['@nestjs/microservices', '@nestjs/graphql', '@nestjs/swagger', 'ws']) {
  await import(name).then(
    () => findable.push(name),
    () => undefined,
  );
}
process.on('disconnect', () => process.exit(0));
process.send!({ require: required, import: imported, findable });
