import { PGlite } from '@electric-sql/pglite';
import { PGLiteSocketServer } from '@electric-sql/pglite-socket';

/** A Postgres inside this process, in memory, that listens on the loopback: real SQL over a real socket, with nothing to install. */
export class EmbeddedPostgres {
  static async start(): Promise<EmbeddedPostgres> {
    const postgres = await PGlite.create();
    // It closes a connection whose statement has failed. The next one comes before that one is gone.
    const server = new PGLiteSocketServer({ db: postgres, host: '127.0.0.1', port: 0, maxConnections: 10 });
    await server.start();
    return new EmbeddedPostgres(postgres, server);
  }

  private constructor(
    private readonly postgres: PGlite,
    private readonly server: PGLiteSocketServer,
  ) {}

  get url(): string {
    return `postgres://postgres@${this.server.getServerConn()}/postgres`;
  }

  async stop(): Promise<void> {
    await this.server.stop();
    await this.postgres.close();
  }
}
