export { hasPostgres, startPostgres } from '../../scripts/postgres-server.mjs';

/** A PostgreSQL of its own for a test, on the loopback, with a user and a database `postgres` and no password. */
export interface PostgresServer {
  readonly port: number;
  stop(): Promise<void>;
}
