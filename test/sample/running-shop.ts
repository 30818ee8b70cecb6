import 'reflect-metadata';
import type { INestApplication, NestApplicationOptions } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import type { ReadableSpan, Span } from '@opentelemetry/sdk-trace-base';
import { setLensLogger, type LensWarning, type NestLensConfig } from 'nest-lens';
import request from 'supertest';
import { AppModule } from '../../sample-app/src/app.module.js';
import { DatabaseService } from '../../sample-app/src/database/database.service.js';
import { OpenSpanTracker, RecordingExporter } from '../support/lens-app.js';

export const VALID_CARD = '4242424242424242';

/** The shop's database for one shop after the other: starting Postgres takes seconds, emptying it doesn't. */
export class KeptDatabase extends DatabaseService {
  override async onModuleInit(): Promise<void> {
    await this.query('test', 'drop schema public cascade');
    await this.query('test', 'create schema public');
    await super.onModuleInit();
  }

  override async onApplicationShutdown(): Promise<void> {
    // The next shop goes on with it.
  }

  close(): Promise<void> {
    return super.onApplicationShutdown();
  }
}

async function createApp(
  root: ReturnType<typeof AppModule.create>,
  database: KeptDatabase | undefined,
): Promise<INestApplication> {
  const options: NestApplicationOptions = { logger: false, abortOnError: false };
  if (database === undefined) return NestFactory.create(root, options);
  const testing = Test.createTestingModule({ imports: [root] });
  const compiled = await testing.overrideProvider(DatabaseService).useValue(database).compile();
  return compiled.createNestApplication(options);
}

/** Also keeps every span in the order in which they started. */
class StartOrderTracker extends OpenSpanTracker {
  readonly inOrder: Span[] = [];

  override onStart(span: Span): void {
    super.onStart(span);
    this.inOrder.push(span);
  }
}

/** The sample shop, listening on a real port, its spans kept in memory. */
export class RunningShop {
  /** Without `database` it is the shop as it ships, with a Postgres of its own. */
  static async start(config: Partial<NestLensConfig>, database?: KeptDatabase): Promise<RunningShop> {
    const exporter = new RecordingExporter();
    const tracker = new StartOrderTracker();
    const warnings: LensWarning[] = [];
    setLensLogger({ warn: (_message, warning) => void warnings.push(warning) });
    const root = AppModule.create({
      config: { enabled: true, exporter: 'none', metricsEnabled: false, ...config },
      telemetry: { spanExporter: exporter, spanProcessors: [tracker] },
    });
    const app = await createApp(root, database);
    await app.listen(0, '127.0.0.1');
    return new RunningShop(app, await app.getUrl(), exporter, tracker, warnings);
  }

  private constructor(
    private readonly app: INestApplication,
    readonly url: string,
    private readonly exporter: RecordingExporter,
    private readonly tracker: StartOrderTracker,
    readonly warnings: readonly LensWarning[],
  ) {}

  get http() {
    return request(this.url);
  }

  order(lines: readonly { productId: number; quantity: number }[], card = VALID_CARD) {
    return this.http.post('/orders').send({ lines, card });
  }

  /** Asks the database, past the routes. */
  async stockOf(productId: number): Promise<number> {
    const [product] = await this.query<{ stock: number }>('select stock from products where id = $1', [
      productId,
    ]);
    return product!.stock;
  }

  query<Row>(text: string, parameters?: unknown[]): Promise<Row[]> {
    return this.app.get(DatabaseService, { strict: false }).query<Row>('test', text, parameters);
  }

  inFlight(): string[] {
    return [...this.tracker.open].map(({ name }) => name);
  }

  get startedSpans(): number {
    return this.tracker.started;
  }

  /** Every span so far, in the order in which they started. */
  get startedInOrder(): readonly ReadableSpan[] {
    return this.tracker.inOrder;
  }

  /** Closes the shop, which flushes, and answers every span that was exported. */
  async close(): Promise<readonly ReadableSpan[]> {
    await this.app.close();
    return this.exporter.spans;
  }
}
