import 'reflect-metadata';
import http from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import {
  type CallHandler,
  Controller,
  type ExecutionContext,
  Get,
  NotFoundException,
  type NestInterceptor,
  Param,
  RequestTimeoutException,
  Sse,
  type Type,
  UseInterceptors,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { SpanStatusCode } from '@opentelemetry/api';
import type { ReadableSpan, Span, SpanProcessor } from '@opentelemetry/sdk-trace-base';
import { managedSpan, NestLensModule, SpanGroup, SpanGroupInterceptor } from 'nest-lens';
import { type Observable, Subject, throwError, timeout } from 'rxjs';

/** Counts spans and keeps none of them. */
class Counting implements SpanProcessor {
  started = 0;
  ended = 0;
  cancelled = 0;
  failed = 0;

  onStart(_span: Span): void {
    this.started += 1;
  }

  onEnd(span: ReadableSpan): void {
    this.ended += 1;
    if (span.attributes['nestlens.cancelled'] === true) this.cancelled += 1;
    if (span.status.code === SpanStatusCode.ERROR) this.failed += 1;
  }

  forceFlush(): Promise<void> {
    return Promise.resolve();
  }

  shutdown(): Promise<void> {
    return Promise.resolve();
  }
}

class Timeout implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next
      .handle()
      .pipe(timeout({ first: 2, with: () => throwError(() => new RequestTimeoutException()) }));
  }
}

const stock = new Subject<{ data: string }>();
const neverInStock = new Subject<object>();

/** The same handlers under each path. */
function controllerAt(path: string, ...interceptors: Type<NestInterceptor>[]): Type<unknown> {
  @Controller(path)
  @UseInterceptors(...interceptors)
  @SpanGroup('orders')
  class ShopController {
    @Get('ok/:id')
    async ok(@Param('id') id: string): Promise<object> {
      return managedSpan('orders', 'inside', async () => ({ id }));
    }

    @Get('missing/:id')
    missing(@Param('id') id: string): never {
      throw new NotFoundException(id);
    }

    @Get('broken/:id')
    async broken(@Param('id') id: string): Promise<never> {
      throw new Error(id);
    }

    @Sse('events/:id')
    events(): Observable<{ data: string }> {
      setImmediate(() => stock.next({ data: 'tea' }));
      return stock;
    }

    @Get('slow/:id')
    @UseInterceptors(Timeout)
    slow(): Observable<object> {
      return neverInStock;
    }
  }
  return ShopController;
}

class AppModule {}

const counting = new Counting();
const lens = NestLensModule.forRoot({
  registrations: [{ namespace: 'shop', groups: ['orders'] }],
  config: { enabled: true, spanGroups: 'orders', exporter: 'none', metricsEnabled: false },
  telemetry: { spanProcessors: [counting] },
});
const shop = { controllers: [controllerAt('orders', SpanGroupInterceptor), controllerAt('plain')] };
const apps = [
  await NestFactory.create({ module: AppModule, imports: [lens], ...shop }, new ExpressAdapter(), {
    logger: false,
  }),
  // It joins the telemetry of the first one.
  await NestFactory.create(
    { module: AppModule, imports: [NestLensModule.forRoot()], ...shop },
    new FastifyAdapter(),
    { logger: false },
  ),
];
const ports: number[] = [];
for (const app of apps) {
  await app.listen(0, '127.0.0.1');
  ports.push(((app.getHttpServer() as Server).address() as AddressInfo).port);
}
const agent = new http.Agent({ keepAlive: true, maxSockets: 32 });

/** One request, to its end; that of events is given up at the first of them. */
function request(port: number, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const isStream = path.includes('/events/');
    const sent = http.get({ port, host: '127.0.0.1', path, agent: isStream ? false : agent }, (response) => {
      if (isStream) {
        response.once('data', () => {
          sent.destroy();
          resolve(response.statusCode!);
        });
        response.on('error', () => undefined);
        return;
      }
      response.resume();
      response.once('end', () => resolve(response.statusCode!));
    });
    sent.on('error', (error) => (sent.destroyed ? undefined : reject(error)));
  });
}

/** Of ten requests: five are answered, two are missing, one is broken, one is left, one takes too long. */
const KINDS = ['ok', 'missing', 'ok', 'broken', 'ok', 'events', 'ok', 'slow', 'ok', 'missing'];

async function send(count: number): Promise<Record<number, number>> {
  const statuses: Record<number, number> = {};
  let next = 0;
  const client = async (): Promise<void> => {
    while (next < count) {
      const id = next;
      next += 1;
      const controller = id % 20 < 10 ? 'orders' : 'plain';
      const port = ports[id % 40 < 20 ? 0 : 1]!;
      const status = await request(port, `/${controller}/${KINDS[id % 10]}/${id}`);
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: 16 }, client));
  return statuses;
}

async function settled(): Promise<void> {
  for (let wait = 0; wait < 200 && counting.started > counting.ended; wait += 1) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function heapUsed(): Promise<number> {
  for (let round = 0; round < 5; round += 1) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    (globalThis as unknown as { gc(): void }).gc();
  }
  return process.memoryUsage().heapUsed;
}

process.on('disconnect', () => process.exit(0));
process.on('message', (count: number) => {
  void (async () => {
    Object.assign(counting, { started: 0, ended: 0, cancelled: 0, failed: 0 });
    const before = await heapUsed();
    const statuses = await send(count);
    await settled();
    const after = await heapUsed();
    process.send!({
      statuses,
      ...counting,
      observed: stock.observed || neverInStock.observed,
      growth: after - before,
    });
  })();
});
process.send!('ready');
