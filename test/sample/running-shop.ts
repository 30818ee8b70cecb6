import 'reflect-metadata';
import { setFlagsFromString } from 'node:v8';
import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { ReadableSpan, Span } from '@opentelemetry/sdk-trace-base';
import { setLensLogger, type LensWarning, type NestLensConfig } from 'nest-lens';
import pg from 'pg';
import request from 'supertest';
import { type MockInstance, vi } from 'vitest';
import { AppModule } from '../../sample-app/src/app.module.js';
import { DatabaseService } from '../../sample-app/src/database/database.service.js';
import { EmbeddedPostgres } from '../../sample-app/src/database/embedded-postgres.js';
import { OpenSpanTracker, RecordingExporter } from '../support/lens-app.js';

export const VALID_CARD = '4242424242424242';

/** The Postgres of one shop after the other: starting it takes seconds, emptying it doesn't. */
export class KeptPostgres {
  /** Each shop that starts from now on gets it, empty, where it would start one of its own. */
  static async start(): Promise<KeptPostgres> {
    // Optimizing the Postgres would take longer than all that it does here.
    setFlagsFromString('--liftoff-only');
    return new KeptPostgres(await EmbeddedPostgres.start());
  }

  /** How often a shop has stopped its Postgres. */
  stops = 0;

  private readonly lent: MockInstance<typeof EmbeddedPostgres.start>;

  private constructor(private readonly postgres: EmbeddedPostgres) {
    const forShop = Object.create(postgres, {
      stop: { value: () => Promise.resolve(void (this.stops += 1)) },
    }) as EmbeddedPostgres;
    this.lent = vi.spyOn(EmbeddedPostgres, 'start').mockImplementation(async () => {
      await this.empty();
      return forShop;
    });
  }

  async stop(): Promise<void> {
    this.lent.mockRestore();
    await this.postgres.stop();
  }

  private async empty(): Promise<void> {
    const client = new pg.Client({ connectionString: this.postgres.url });
    await client.connect();
    await client.query('drop schema public cascade; create schema public');
    await client.end();
  }
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
  static async start(config: Partial<NestLensConfig>): Promise<RunningShop> {
    const exporter = new RecordingExporter();
    const tracker = new StartOrderTracker();
    const warnings: LensWarning[] = [];
    setLensLogger({ warn: (_message, warning) => void warnings.push(warning) });
    const root = AppModule.create({
      config: { enabled: true, exporter: 'none', metricsEnabled: false, ...config },
      telemetry: { spanExporter: exporter, spanProcessors: [tracker] },
    });
    const app = await NestFactory.create(root, { logger: false, abortOnError: false });
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
