import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { SpanKind } from '@opentelemetry/api';
import { managedSpan } from 'nest-lens';
import pg from 'pg';
import { databaseSpans } from './database.span-groups.js';
import { EmbeddedPostgres } from './embedded-postgres.js';
import { SCHEMA } from './schema.js';
import { SEED_DATA } from './seed-data.js';
import type { SqlConnection } from './sql-connection.js';

const DB_QUERY = databaseSpans.group('db_query');
const DB_TRANSACTION = databaseSpans.group('db_transaction');

/** The Postgres that `DATABASE_URL` names, or one inside this process. */
@Injectable()
export class DatabaseService implements SqlConnection, OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger(DatabaseService.name);
  private embedded: EmbeddedPostgres | undefined;
  private opened: Promise<pg.Pool> | undefined;

  async onModuleInit(): Promise<void> {
    const pool = await this.pool();
    await pool.query(SCHEMA);
    await pool.query(SEED_DATA);
  }

  async query<Row>(name: string, text: string, parameters?: unknown[]): Promise<Row[]> {
    return tracedQuery<Row>(await this.pool(), name, text, parameters);
  }

  /**
   * Runs `work` in one transaction: committed when it resolves, rolled back when it rejects.
   *
   * The embedded Postgres has one connection, so transactions wait for each other, and `work` has to use the connection that
   * it is given: a query on the service itself would wait for the transaction that it is part of.
   */
  transaction<T>(name: string, work: (connection: SqlConnection) => Promise<T>): Promise<T> {
    return managedSpan(DB_TRANSACTION, name, { kind: SpanKind.CLIENT }, async () => {
      const client = await (await this.pool()).connect();
      try {
        await client.query('begin');
        const result = await work({
          query: (queryName, text, parameters) => tracedQuery(client, queryName, text, parameters),
        });
        await client.query('commit');
        return result;
      } catch (error) {
        await client.query('rollback');
        throw error;
      } finally {
        client.release();
      }
    });
  }

  async onApplicationShutdown(): Promise<void> {
    await (await this.opened)?.end();
    await this.embedded?.stop();
  }

  private pool(): Promise<pg.Pool> {
    this.opened ??= this.open();
    return this.opened;
  }

  private async open(): Promise<pg.Pool> {
    const url = process.env['DATABASE_URL'];
    if (!url) this.embedded = await EmbeddedPostgres.start();
    const pool = this.embedded
      ? new pg.Pool({ connectionString: this.embedded.url, max: 1 })
      : new pg.Pool({ connectionString: url });
    // The pool replaces a connection that breaks while nobody uses it. Without a listener that would end the process.
    pool.on('error', (error) => this.logger.warn(`A connection to Postgres broke: ${error.message}`));
    return pool;
  }
}

function tracedQuery<Row>(
  runner: pg.Pool | pg.PoolClient,
  name: string,
  text: string,
  parameters: unknown[] = [],
): Promise<Row[]> {
  return managedSpan(
    DB_QUERY,
    name,
    {
      kind: SpanKind.CLIENT,
      // A function: with the group off it never runs, so the object is never made.
      attributes: () => ({ 'db.system.name': 'postgresql', 'db.query.summary': name }),
    },
    async (span) => {
      const { rows } = await runner.query(text, parameters);
      span?.setAttribute('db.response.returned_rows', rows.length);
      return rows as Row[];
    },
  );
}
