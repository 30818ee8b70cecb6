import 'reflect-metadata';
import dns from 'node:dns';
import http from 'node:http';
import v8 from 'node:v8';
import vm from 'node:vm';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Controller, Get, type INestApplication, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { diag } from '@opentelemetry/api';
import { managedSpan, NestLensModule, setLensLogger, SpanGroup } from 'nest-lens';
import { setUpForTest } from '../support/live-telemetry.js';
import { type Misbehaviour, startReceiver } from '../support/otlp-receiver.js';
import { startShop } from '../support/shop-process.js';
import { shopWithFile } from '../support/shop-with-file.js';
import { removeTelemetryVariables } from '../support/telemetry-variables.js';

vi.setConfig({ testTimeout: 60_000 });

const LIMIT_MS = 200;
/** What a busy machine may add; without the limit every case would take 8 s and more. */
const SLACK_MS = 4_000;

@Controller()
class OrdersController {
  @Get('orders')
  @SpanGroup('orders')
  list(): string[] {
    return ['anvil'];
  }
}

let warnings: string[];
/** The limits that they name. */
let limits: unknown[];
const { lookup } = dns;

beforeEach(() => {
  removeTelemetryVariables();
  process.env.OTEL_LOGS_EXPORTER = 'none';
  // Longer than the limit; how long the exporter itself goes on trying, after the application has closed.
  process.env.OTEL_EXPORTER_OTLP_TIMEOUT = '1000';
  warnings = [];
  limits = [];
  setLensLogger({
    warn(_, { code, details }) {
      warnings.push(code);
      limits.push(details['timeoutMs']);
    },
  });
  // The SDK says at length why it can't export.
  diag.disable();
});

afterEach(() => {
  dns.lookup = lookup;
});

async function startApp(config: Record<string, unknown> = {}): Promise<INestApplication> {
  @Module({
    imports: [
      NestLensModule.forRoot({
        registrations: [{ namespace: 'shop', groups: ['orders'] }],
        config: { enabled: true, spanGroups: 'all', metricsEnabled: false, ...config },
        shutdownTimeoutMs: LIMIT_MS,
      }),
    ],
    controllers: [OrdersController],
  })
  class AppModule {}
  const app = await NestFactory.create(AppModule, { logger: false });
  await app.listen(0, '127.0.0.1');
  return app;
}

async function expectToServeAndClose(app: INestApplication): Promise<void> {
  const response = await new Promise<number | undefined>((resolve, reject) => {
    void app.getUrl().then((url) =>
      http
        .get(`${url}/orders`, { agent: false }, (answer) => {
          answer.resume();
          answer.on('end', () => resolve(answer.statusCode));
        })
        .on('error', reject),
    );
  });
  expect(response).toBe(200);
  const began = performance.now();
  await app.close();
  expect(performance.now() - began).toBeLessThan(LIMIT_MS + SLACK_MS);
  expect(warnings).toEqual(['FLUSH_INCOMPLETE']);
  // Not what was left of it.
  expect(limits).toEqual([LIMIT_MS]);
}

describe('with a collector that', () => {
  it.each<Misbehaviour>(['never answers', '503', 'resets', 'trickles'])(
    'H9, H12: %s, the application starts, serves, and closes within the limit with one warning',
    async (misbehaviour) => {
      const receiver = await startReceiver();
      receiver.misbehaves = misbehaviour;
      process.env.OTEL_EXPORTER_OTLP_ENDPOINT = receiver.url;
      await expectToServeAndClose(await startApp());
      expect(receiver.requests.length).toBeGreaterThan(0);
    },
  );

  it('H9, H12: is not there, the application starts, serves, and closes within the limit with one warning', async () => {
    const receiver = await startReceiver();
    await receiver.stop();
    process.env.OTEL_EXPORTER_OTLP_ENDPOINT = receiver.url;
    await expectToServeAndClose(await startApp());
  });

  it('H9: never answers to metrics either, still one warning, within the same limit', async () => {
    const receiver = await startReceiver();
    receiver.misbehaves = 'never answers';
    process.env.OTEL_EXPORTER_OTLP_ENDPOINT = receiver.url;
    await expectToServeAndClose(await startApp({ metricsEnabled: true }));
  });

  it('H9, H12: has a name that is slow to be looked up, the same', async () => {
    const asked: string[] = [];
    process.env.OTEL_EXPORTER_OTLP_ENDPOINT = 'http://collector.test:4318';
    const slow = (hostname: string, options: never, done: (...answer: any[]) => void): void => {
      if (hostname !== 'collector.test') return lookup(hostname, options, done);
      asked.push(hostname);
      setTimeout(() => done(new Error('not found, after a while')), 20_000).unref();
    };
    dns.lookup = Object.assign(slow, lookup);
    await expectToServeAndClose(await startApp());
    expect(asked).toContain('collector.test');
  });

  it('H9, H12: speaks no TLS where TLS is asked for, the same', async () => {
    const receiver = await startReceiver();
    process.env.OTEL_EXPORTER_OTLP_ENDPOINT = receiver.url.replace('http:', 'https:');
    await expectToServeAndClose(await startApp());
    expect(receiver.spans).toEqual([]);
  });

  it('H9, H12: is a gRPC port that nobody listens to, the same', async () => {
    const receiver = await startReceiver();
    await receiver.stop();
    process.env.OTEL_EXPORTER_OTLP_PROTOCOL = 'grpc';
    process.env.OTEL_EXPORTER_OTLP_ENDPOINT = receiver.url;
    await expectToServeAndClose(await startApp());
  });

  it('H9: never answers, a process that is told to stop ends within the limit, by that signal', async () => {
    const receiver = await startReceiver();
    receiver.misbehaves = 'never answers';
    const shop = startShop({
      shop: { options: { shutdownTimeoutMs: LIMIT_MS } },
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url },
    });
    await shop.get('/orders');
    const began = performance.now();
    expect(await shop.kill('SIGTERM')).toEqual({ code: null, signal: 'SIGTERM' });
    expect(performance.now() - began).toBeLessThan(LIMIT_MS + SLACK_MS);
    expect(shop.warnings()).toHaveLength(1);
  });

  it('H9: never answers costs bounded memory, however many spans are made', async () => {
    v8.setFlagsFromString('--expose-gc');
    const collectGarbage = vm.runInNewContext('gc') as () => void;
    const receiver = await startReceiver();
    receiver.misbehaves = 'never answers';
    process.env.OTEL_EXPORTER_OTLP_ENDPOINT = receiver.url;
    const handle = await setUpForTest({ exporter: 'otlp' });
    setLensLogger({ warn: () => undefined });
    const { setSpanGroupSpec, SpanRegistry } = await import('nest-lens');
    SpanRegistry.register('shop', ['orders']);
    setSpanGroupSpec('all');
    const makeSpans = async (thousands: number): Promise<number> => {
      for (let round = 0; round < thousands; round++) {
        for (let i = 0; i < 1_000; i++) managedSpan('orders', 'order', () => undefined);
        await new Promise((resolve) => setImmediate(resolve));
      }
      collectGarbage();
      return process.memoryUsage().heapUsed;
    };
    // The queue takes 2,048.
    const before = await makeSpans(5);
    const after = await makeSpans(30);
    // 30,000 spans take some 30 MB.
    expect(after - before).toBeLessThan(10_000_000);
    await handle.shutdown(100);
  });
});

describe('with an exporter that never answers', () => {
  it('H9: a process that has nothing left to do ends within the limit of the module, and names it', async () => {
    const { process: shop, names } = shopWithFile({
      drain: true,
      exportTakes: 'for ever',
      options: { shutdownTimeoutMs: LIMIT_MS },
    });
    await shop.says(/EXPORTING/);
    const began = performance.now();
    expect(await shop.exited).toEqual({ code: 0, signal: null });
    // The SDK by itself would wait for 30 s.
    expect(performance.now() - began).toBeLessThan(LIMIT_MS + SLACK_MS);
    expect(shop.warnings()).toEqual([expect.stringContaining(`within ${LIMIT_MS} ms`)]);
    expect(names()).toEqual(['(shutdown)']);
  });
});
