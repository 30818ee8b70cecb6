import { PGlite } from '@electric-sql/pglite';
import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { SpanKind } from '@opentelemetry/api';
import { managedSpan } from 'nest-lens';
import { databaseSpans } from './database.span-groups.js';
import { SCHEMA } from './schema.js';
import { SEED_DATA } from './seed-data.js';
import type { SqlConnection } from './sql-connection.js';

const DB_QUERY = databaseSpans.group('db_query');
const DB_TRANSACTION = databaseSpans.group('db_transaction');

/** Postgres inside this process, in memory: real SQL and real transactions, with nothing to install. */
@Injectable()
export class DatabaseService implements SqlConnection, OnModuleInit, OnApplicationShutdown {
  private readonly postgres = new PGlite();

  async onModuleInit(): Promise<void> {
    await this.postgres.exec(SCHEMA);
    await this.postgres.exec(SEED_DATA);
  }

  query<Row>(name: string, text: string, parameters?: unknown[]): Promise<Row[]> {
    return tracedQuery<Row>(this.postgres, name, text, parameters);
  }

  /**
   * Runs `work` in one transaction: committed when it resolves, rolled back when it rejects.
   *
   * There is one connection, so transactions wait for each other, and `work` has to use the connection that it
   * is given: a query on the service itself would wait for the transaction that it is part of.
   */
  transaction<T>(name: string, work: (connection: SqlConnection) => Promise<T>): Promise<T> {
    return managedSpan(DB_TRANSACTION, name, { kind: SpanKind.CLIENT }, () =>
      this.postgres.transaction((transaction) =>
        work({
          query: (queryName, text, parameters) => tracedQuery(transaction, queryName, text, parameters),
        }),
      ),
    );
  }

  async onApplicationShutdown(): Promise<void> {
    await this.postgres.close();
  }
}

function tracedQuery<Row>(
  runner: Pick<PGlite, 'query'>,
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
      const { rows } = await runner.query<Row>(text, parameters);
      span?.setAttribute('db.response.returned_rows', rows.length);
      return rows;
    },
  );
}
