// What every consumer does, described once: boot an application on each platform, make spans, read /lens/groups, close.
// It is copied into the consumer's own sources, so that the consumer's compiler, module system and test runner see it.
import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import {
  Controller,
  Get,
  Inject,
  Injectable,
  type INestApplication,
  Module,
  NotFoundException,
  Param,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { diag, DiagLogLevel, SpanStatusCode } from '@opentelemetry/api';
import {
  defineSpanGroups,
  managedSpan,
  NestLensModule,
  SPAN_REGISTRY_SERVICE,
  SpanGroup,
  SpanRegistry,
  SpanRegistryService,
} from 'nest-lens';
import {
  isSpanGroupEnabled,
  nestLensConfigFromEnv,
  setupTelemetry,
  type SpanExporterLike,
} from 'nest-lens/core';
import { type CapturedSpan, type CapturedSpans, captureSpans } from 'nest-lens/testing';
import { of } from 'rxjs';

/** What the SDK says of spans that are ended twice or sent through two SDKs; it has much else to say about itself. */
const SPAN_MISUSE = /\bended\b|end\(\)|duplicate/i;

export const PLATFORMS = { express: () => new ExpressAdapter(), fastify: () => new FastifyAdapter() };
export type Platform = keyof typeof PLATFORMS;

const shop = defineSpanGroups({
  namespace: 'shop',
  groups: ['orders', 'audit'],
  presets: { default: ['orders'] },
});
const warehouse = defineSpanGroups({
  namespace: 'warehouse',
  groups: ['stock'],
  presets: { default: ['stock'] },
});

@Injectable()
class StockService {
  // By its class, so that the metadata of the constructor's parameters has to survive the consumer's compiler.
  constructor(private readonly registry: SpanRegistryService) {}

  async take(product: string) {
    return managedSpan(warehouse.group('stock'), 'stock.take', async (span) => {
      await pause(2);
      span?.setAttribute('stock.product', product);
      // After an `await`: the parent has to be found all the same.
      const left = managedSpan(warehouse.group('stock'), 'stock.count', () => 41);
      return { product, left, namespaces: this.registry.namespaces() };
    });
  }
}

@Controller('orders')
class OrdersController {
  constructor(
    private readonly stock: StockService,
    @Inject(SPAN_REGISTRY_SERVICE) private readonly registry: SpanRegistryService,
  ) {}

  @Get('values')
  @SpanGroup(shop.group('orders'))
  values() {
    return of(1, 2, 3);
  }

  @Get('missing')
  @SpanGroup(shop.group('orders'))
  missing() {
    throw new NotFoundException('no such order');
  }

  @Get('broken')
  @SpanGroup(shop.group('orders'))
  async broken() {
    await pause(1);
    throw new Error('out of order');
  }

  @Get('audit')
  @SpanGroup(shop.group('audit'))
  audit() {
    return { enabled: this.registry.isEnabled('audit') };
  }

  @Get(':product')
  @SpanGroup(shop.group('orders'), { attributes: (product: string) => ({ 'order.product': product }) })
  async place(@Param('product') product: string) {
    return this.stock.take(product);
  }
}

@Module({
  imports: [NestLensModule.forFeature(warehouse)],
  controllers: [OrdersController],
  providers: [StockService],
})
class OrdersModule {}

async function boot(platform: Platform, { spanProcessor }: CapturedSpans): Promise<INestApplication> {
  const lens = NestLensModule.forRoot({
    registrations: [shop],
    config: { enabled: true, spanGroups: 'default', metricsEnabled: false },
    telemetry: { spanProcessors: [spanProcessor] },
  });
  @Module({ imports: [lens, OrdersModule] })
  class AppModule {}
  const app = await NestFactory.create(AppModule, PLATFORMS[platform](), {
    // The 500 is meant: its stack trace would only bury what is not.
    logger: ['warn', 'fatal'],
    abortOnError: false,
  });
  await app.listen(0, '127.0.0.1');
  return app;
}

async function get(app: INestApplication, path: string): Promise<{ status: number; body: any }> {
  const response = await fetch(`${await app.getUrl()}${path}`);
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
}

const parentOf = (span: CapturedSpan): string | undefined => span.parentSpanContext?.spanId;

async function checkSpans(app: INestApplication, captured: CapturedSpans): Promise<string[]> {
  // The names of classes are those that the consumer's bundler has left.
  const handler = (method: string): string => `${OrdersController.name}.${method}`;
  const seen: string[] = [];
  const spansOf = async (path: string, status: number): Promise<[CapturedSpan[], unknown]> => {
    captured.clear();
    const answer = await get(app, path);
    assert.equal(answer.status, status, path);
    seen.push(...captured.spans().map(({ name }) => name));
    return [captured.spans(), answer.body];
  };

  const [placed, order] = await spansOf('/orders/tea', 200);
  assert.deepEqual(order, { product: 'tea', left: 41, namespaces: ['shop', 'warehouse'] });
  assert.deepEqual(
    placed.map(({ name }) => name),
    ['stock.count', 'stock.take', handler('place')],
  );
  const [count, take, place] = placed as [CapturedSpan, CapturedSpan, CapturedSpan];
  assert.equal(parentOf(count), take.spanContext().spanId);
  assert.equal(parentOf(take), place.spanContext().spanId);
  assert.equal(parentOf(place), undefined);
  assert.equal(take.attributes['stock.product'], 'tea');
  assert.equal(place.attributes['order.product'], 'tea');
  assert.equal(place.attributes['nestlens.group'], 'orders');
  assert.equal(place.attributes['nestjs.controller'], OrdersController.name);
  assert.equal(place.attributes['nestjs.callback'], 'place');

  const [values] = await spansOf('/orders/values', 200);
  assert.deepEqual(
    values.map(({ name }) => name),
    [handler('values')],
  );
  // That an exception is an HttpException, and answered as one, takes one copy of Nest.
  const [missing] = await spansOf('/orders/missing', 404);
  assert.deepEqual(
    missing.map(({ name, status }) => [name, status.code]),
    [[handler('missing'), SpanStatusCode.UNSET]],
  );
  const [broken] = await spansOf('/orders/broken', 500);
  assert.deepEqual(
    broken.map(({ name, status }) => [name, status.code]),
    [[handler('broken'), SpanStatusCode.ERROR]],
  );
  const [audited, audit] = await spansOf('/orders/audit', 200);
  assert.deepEqual([audited, audit], [[], { enabled: false }]);
  return seen;
}

async function checkDocument(app: INestApplication): Promise<void> {
  const { status, body } = await get(app, '/lens/groups');
  assert.equal(status, 200);
  assert.deepEqual(body.telemetry, { enabled: true, exporting: true, mode: 'own' });
  assert.deepEqual(body.enabled, ['orders', 'stock']);
  assert.deepEqual(body.namespaces, ['shop', 'warehouse']);
  assert.deepEqual(
    body.groups.map(({ name, sites }: { name: string; sites: number }) => [name, sites]),
    [
      ['audit', 1],
      ['orders', 4],
      ['stock', 0],
    ],
  );
  assert.deepEqual(body.warnings, []);
}

/** The other ways into the SDK: an exporter beside processors, resource attributes, and spans as lines of JSON. */
async function checkSetUpWithoutNest(): Promise<void> {
  const config = {
    ...nestLensConfigFromEnv({ env: {} }),
    enabled: true,
    spanGroups: 'all',
    metricsEnabled: false,
  };
  const captured = captureSpans();
  const exported: CapturedSpan[] = [];
  const spanExporter: SpanExporterLike = {
    export: (spans, done) => {
      exported.push(...(spans as CapturedSpan[]));
      done({ code: 0 });
    },
    shutdown: () => Promise.resolve(),
  };
  const printed: string[] = [];
  const { write } = process.stdout;
  shop.register();
  try {
    const handle = await setupTelemetry(config, {
      spanExporter,
      spanProcessors: [captured.spanProcessor],
      resourceAttributes: { 'service.version': '1.2.3' },
    });
    managedSpan(shop.group('audit'), 'audit.write', () => undefined);
    await handle.shutdown();

    process.stdout.write = ((chunk: unknown) => printed.push(String(chunk)) > 0) as typeof write;
    const printing = await setupTelemetry({ ...config, exporter: 'console' });
    managedSpan(shop.group('audit'), 'audit.print', () => undefined);
    await printing.shutdown();
  } finally {
    process.stdout.write = write;
    SpanRegistry.unregister('shop');
  }
  const names = (spans: readonly CapturedSpan[]): string[] => spans.map(({ name }) => name);
  assert.deepEqual([names(captured.spans()), names(exported)], [['audit.write'], ['audit.write']]);
  const { attributes } = exported[0]!.resource;
  assert.equal(attributes['service.version'], '1.2.3');
  assert.equal(attributes['nestlens.run_id'], config.runId);
  assert.equal(attributes['telemetry.sdk.name'], 'opentelemetry');
  const lines = printed
    .join('')
    .split('\n')
    .filter((line) => line.startsWith('{'));
  assert.deepEqual(
    lines.map((line) => (JSON.parse(line) as { name: string }).name),
    ['audit.print'],
  );
}

/** Runs one application from start to end. Throws when anything isn't as it should be. */
export async function runScenario(platform: Platform): Promise<void> {
  const complaints: string[] = [];
  const complain = (message: string): void => void complaints.push(message);
  const silent = (): void => undefined;
  diag.setLogger(
    { error: complain, warn: complain, info: silent, debug: silent, verbose: silent },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  const captured = captureSpans();
  const app = await boot(platform, captured);
  let spans: string[];
  try {
    spans = await checkSpans(app, captured);
    await checkDocument(app);
    assert.equal(isSpanGroupEnabled('stock'), true);
  } finally {
    await app.close();
  }
  assert.deepEqual([...SpanRegistry.namespaces()], []);
  assert.equal(isSpanGroupEnabled('stock'), false);
  await checkSetUpWithoutNest();
  assert.deepEqual(
    complaints.filter((message) => SPAN_MISUSE.test(message)),
    [],
  );
  report({ platform, node: process.versions.node, spans });
}

/** A runner that found no test, or a cell on another Node than it says, must not pass: the checker reads this. */
function report(facts: { platform: Platform; node: string; spans: string[] }): void {
  const file = process.env.NEST_LENS_COMPAT_REPORT;
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(facts)}\n`);
}
