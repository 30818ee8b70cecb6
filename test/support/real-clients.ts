import { createRequire } from 'node:module';
import Bluebird from 'bluebird';
import { drizzle } from 'drizzle-orm/pg-proxy';
import { integer, pgTable } from 'drizzle-orm/pg-core';
import { execa } from 'execa';
import knexPackage from 'knex';
import mongoose from 'mongoose';
import postgres from 'postgres';
import { servePostgresWire } from './postgres-wire.js';

/** What a client does when its query is executed; its answer comes when that is done. */
export type Run = () => Promise<void>;

/** A client whose calls give something that can be awaited, and is no plain promise. */
export interface RealClient {
  readonly name: string;
  /** It begins its work when it is awaited, not when it is made. */
  readonly isLazy: boolean;
  /** Whether the work runs in this process, where its context can be seen. */
  readonly isInProcess: boolean;
  open(run: Run): Promise<OpenClient>;
}

export interface OpenClient {
  /** Makes a query, which is to fail or not. */
  query(fails: boolean): PromiseLike<unknown>;
  close(): unknown;
}

const require = createRequire(import.meta.url);
const nothing = (): void => undefined;

async function answer<T>(run: Run, fails: boolean, rows: T): Promise<T> {
  await run();
  if (fails) throw new Error('no such table: missing');
  return rows;
}

/** knex with its own builder and runner, over a connection that answers by itself. */
async function openKnex(run: Run): Promise<OpenClient> {
  const PostgresClient = require('knex/lib/dialects/postgres/index.js');
  class Client extends PostgresClient {
    _driver() {
      return {};
    }
    async acquireRawConnection() {
      return { on: nothing };
    }
    async validateConnection() {
      return true;
    }
    async destroyRawConnection() {}
    async checkVersion() {
      return '16';
    }
    async _query(_connection: unknown, query: { sql: string; response?: unknown }) {
      const rows = await answer(run, query.sql.includes('missing'), [{ id: 1 }]);
      query.response = { rows, rowCount: 1, command: 'SELECT' };
      return query;
    }
  }
  const knex = knexPackage.knex({ client: Client as never, connection: {} });
  return {
    query: (fails) => knex(fails ? 'missing' : 'users').where({ id: 1 }),
    close: () => knex.destroy(),
  };
}

function openDrizzle(run: Run) {
  const table = (name: string) => pgTable(name, { id: integer().primaryKey() });
  const [users, missing] = [table('users'), table('missing')];
  const database = drizzle(async (sql) => ({ rows: await answer(run, sql.includes('missing'), [[1]]) }));
  return { database, tableOf: (fails: boolean) => (fails ? missing : users) };
}

/** Mongoose with its own query, whose answer a hook gives in the place of a server. */
async function openMongoose(run: Run): Promise<OpenClient> {
  const connection = mongoose.createConnection();
  const modelOf = (name: string) => {
    const schema = new mongoose.Schema({ name: String }, { autoIndex: false, autoCreate: false });
    schema.pre('find', async () => {
      throw mongoose.skipMiddlewareFunction(await answer(run, name === 'Missing', [{ name: 'Ann' }]));
    });
    return connection.model(name, schema);
  };
  const [User, Missing] = [modelOf('User'), modelOf('Missing')];
  return {
    query: (fails) => (fails ? Missing : User).find({ name: 'Ann' }),
    close: () => connection.close(),
  };
}

const PRISMA_SCHEMA = `
datasource db {
  provider = "postgresql"
}
generator client {
  provider = "prisma-client-js"
}
model User {
  id Int @id
  missing Int?
  posts Post[]
}
model Post {
  id Int @id
  userId Int
  user User @relation(fields: [userId], references: [id])
}
`;

/** Prisma's runtime with what its generator would give it, over an adapter that answers by itself. */
function openPrisma(run: Run): any {
  const { getPrismaClient } = require('@prisma/client/runtime/client');
  const compiler = '@prisma/client/runtime/query_compiler_small_bg.postgresql';
  const field = (name: string, kind: string, type: string, relation = {}) => ({
    name,
    kind,
    type,
    ...relation,
  });
  const relation = { relationName: 'PostToUser' };
  const id = field('id', 'scalar', 'Int');
  const PrismaClient = getPrismaClient({
    runtimeDataModel: {
      models: {
        User: {
          dbName: null,
          fields: [id, field('missing', 'scalar', 'Int'), field('posts', 'object', 'Post', relation)],
        },
        Post: {
          dbName: null,
          fields: [id, field('userId', 'scalar', 'Int'), field('user', 'object', 'User', relation)],
        },
      },
      enums: {},
      types: {},
    },
    previewFeatures: [],
    clientVersion: '7.10.0',
    engineVersion: '0',
    activeProvider: 'postgresql',
    inlineSchema: PRISMA_SCHEMA,
    parameterizationSchema: { strings: [], graph: Buffer.alloc(64).toString('base64') },
    compilerWasm: {
      getRuntime: async () => require(`${compiler}.js`),
      getQueryCompilerWasmModule: async () =>
        new (globalThis as any).WebAssembly.Module(
          Buffer.from(require(`${compiler}.wasm-base64.js`).wasm, 'base64'),
        ),
      importName: './query_compiler_small_bg.js',
    },
  });
  const queryRaw = async ({ sql }: { sql: string }) => {
    const isMissing = /WHERE .*missing/.test(sql);
    return {
      columnNames: ['id', 'missing'],
      columnTypes: [0, 0],
      rows: await answer(run, isMissing, [[1, null]]),
    };
  };
  const connection = {
    provider: 'postgres',
    adapterName: 'in-process',
    queryRaw,
    dispose: async () => undefined,
    getConnectionInfo: () => ({ supportsRelationJoins: false }),
  };
  const adapter = { provider: 'postgres', adapterName: 'in-process', connect: async () => connection };
  return new PrismaClient({ adapter });
}

async function openPostgres(run: Run): Promise<OpenClient> {
  const server = await servePostgresWire(run);
  const sql = postgres({
    host: '127.0.0.1',
    port: server.port,
    max: 1,
    fetch_types: false,
    prepare: false,
    ssl: false,
  });
  return {
    query: (fails) => (fails ? sql`select id from missing` : sql`select id from users`),
    close: async () => {
      await sql.end();
      await server.close();
    },
  };
}

/** The shape of the promises of generated API clients: the answer is parsed when somebody asks for it. */
class ApiPromise<T> extends Promise<T> {
  constructor(private readonly response: Promise<{ status: number; body: T }>) {
    super((resolve) => resolve(undefined as T));
  }

  asResponse(): Promise<{ status: number; body: T }> {
    return this.response;
  }

  override then<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.response.then(({ body }) => body).then(onFulfilled, onRejected);
  }
}

const inProcess = { isLazy: true, isInProcess: true };

/** Rows: the client, and how it is opened. */
export const REAL_CLIENTS: readonly RealClient[] = [
  { ...inProcess, name: 'knex', open: openKnex },
  {
    ...inProcess,
    name: 'drizzle, a select',
    async open(run) {
      const { database, tableOf } = openDrizzle(run);
      return { query: (fails) => database.select().from(tableOf(fails)), close: nothing };
    },
  },
  {
    ...inProcess,
    name: 'drizzle, an insert that returns',
    async open(run) {
      const { database, tableOf } = openDrizzle(run);
      return {
        query: (fails) => database.insert(tableOf(fails)).values({ id: 1 }).returning(),
        close: nothing,
      };
    },
  },
  { ...inProcess, name: 'Mongoose', open: openMongoose },
  {
    ...inProcess,
    name: 'Prisma, findMany',
    async open(run) {
      const prisma = openPrisma(run);
      return {
        query: (fails) => prisma.user.findMany(fails ? { where: { missing: 1 } } : {}),
        close: () => prisma.$disconnect(),
      };
    },
  },
  {
    ...inProcess,
    name: 'Prisma, findUnique, which is a proxy with relations',
    async open(run) {
      const prisma = openPrisma(run);
      return {
        query: (fails) => prisma.user.findUnique({ where: fails ? { id: 1, missing: 1 } : { id: 1 } }),
        close: () => prisma.$disconnect(),
      };
    },
  },
  { name: 'postgres.js', isLazy: true, isInProcess: false, open: openPostgres },
  {
    name: 'Bluebird',
    isLazy: false,
    isInProcess: true,
    async open(run) {
      return { query: (fails) => Bluebird.resolve(answer(run, fails, [1])), close: nothing };
    },
  },
  {
    name: 'execa',
    isLazy: false,
    isInProcess: false,
    async open(run) {
      return {
        query(fails) {
          void run();
          return execa(process.execPath, ['-e', `console.log(1); process.exitCode = ${fails ? 1 : 0}`]);
        },
        close: nothing,
      };
    },
  },
  {
    name: "a generated client's promise",
    isLazy: false,
    isInProcess: true,
    async open(run) {
      return {
        query: (fails) => new ApiPromise(answer(run, fails, { status: 200, body: [1] })),
        close: nothing,
      };
    },
  },
];
