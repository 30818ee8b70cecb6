// An application that a request passes with every instrumentation: Nest on Express, and a Fastify beside it; PostgreSQL by pg and
// knex, MySQL, Redis by two drivers, GraphQL, gRPC, and requests by http and by fetch. The instrumentations have to be there first.
const { once } = require('node:events');
const { connect, createServer } = require('node:net');
const { trace } = require('@opentelemetry/api');

const PROTO = `syntax = "proto3";
service Stock { rpc Count (Item) returns (Item) {} }
message Item { string name = 1; }`;

/** Place in the application's code -> the id of the active span there. */
let active = {};
/** Way out -> the traceparent that went there. */
let sent = {};

const note = (place) => {
  active[place] = trace.getActiveSpan()?.spanContext().spanId ?? null;
};

function makeInstrumentations() {
  const { HttpInstrumentation } = require('@opentelemetry/instrumentation-http');
  const { ExpressInstrumentation } = require('@opentelemetry/instrumentation-express');
  const { UndiciInstrumentation } = require('@opentelemetry/instrumentation-undici');
  const { PgInstrumentation } = require('@opentelemetry/instrumentation-pg');
  const { KnexInstrumentation } = require('@opentelemetry/instrumentation-knex');
  const { IORedisInstrumentation } = require('@opentelemetry/instrumentation-ioredis');
  const { RedisInstrumentation } = require('@opentelemetry/instrumentation-redis');
  const { GraphQLInstrumentation } = require('@opentelemetry/instrumentation-graphql');
  const { GrpcInstrumentation } = require('@opentelemetry/instrumentation-grpc');
  const { MySQL2Instrumentation } = require('@opentelemetry/instrumentation-mysql2');
  const { NestInstrumentation } = require('@opentelemetry/instrumentation-nestjs-core');
  const { FastifyOtelInstrumentation } = require('@fastify/otel');
  const { PrismaInstrumentation } = require('@prisma/instrumentation');
  return [
    new HttpInstrumentation(),
    new ExpressInstrumentation(),
    new UndiciInstrumentation(),
    new PgInstrumentation({ addSqlCommenterCommentToQueries: true }),
    new KnexInstrumentation(),
    new IORedisInstrumentation({ requireParentSpan: true }),
    new RedisInstrumentation(),
    new GraphQLInstrumentation(),
    new GrpcInstrumentation(),
    new MySQL2Instrumentation(),
    new NestInstrumentation(),
    new FastifyOtelInstrumentation(),
    new PrismaInstrumentation(),
  ];
}

/** A server that nobody instruments, which tells what it was sent. */
async function startEcho() {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (chunk) => {
      const traceparent = /traceparent: (\S+)/i.exec(String(chunk))?.[1] ?? '';
      socket.end(
        `HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: ${traceparent.length}\r\n\r\n${traceparent}`,
      );
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

/** A server that speaks MySQL's protocol: mysql2 brings that side as well. */
async function startMysql(mysql) {
  const server = mysql.createServer((connection) => {
    connection.on('error', () => undefined);
    connection.stream.setNoDelay(true);
    connection.serverHandshake({
      protocolVersion: 10,
      serverVersion: '8.0.0',
      connectionId: 1,
      statusFlags: 2,
      characterSet: 8,
      capabilityFlags: 0xffffff ^ 0x800,
      authCallback(_user, accept) {
        accept(null);
        // What comes next is a command, which counts anew.
        connection.sequenceId = 0;
      },
    });
    connection.on('query', () => {
      connection.sequenceId = 1;
      connection.writeTextResult(
        [{ one: '1' }],
        [
          {
            catalog: 'def',
            schema: '',
            table: '',
            orgTable: '',
            name: 'one',
            orgName: 'one',
            characterSet: 33,
            columnLength: 9,
            columnType: 253,
            flags: 0,
            decimals: 0,
          },
        ],
      );
      connection.sequenceId = 0;
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server._server, 'listening');
  return { port: server._server.address().port, close: () => server.close() };
}

async function startGrpc(stock) {
  const grpc = require('@grpc/grpc-js');
  const protoLoader = require('@grpc/proto-loader');
  const file = require('node:path').join(
    require('node:fs').mkdtempSync(`${require('node:os').tmpdir()}/nest-lens-proto-`),
    'stock.proto',
  );
  require('node:fs').writeFileSync(file, PROTO);
  const { Stock } = grpc.loadPackageDefinition(protoLoader.loadSync(file));
  require('node:fs').rmSync(require('node:path').dirname(file), { recursive: true });
  const server = new grpc.Server();
  server.addService(Stock.service, {
    Count: (call, callback) => {
      sent.grpc = call.metadata.get('traceparent')[0] ?? '';
      stock().then((name) => callback(null, { name }), callback);
    },
  });
  const port = await new Promise((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  );
  const client = new Stock(`127.0.0.1:${port}`, grpc.credentials.createInsecure());
  return { server, client };
}

/** Nest's own instrumentation refuses Nest 12, whose modules it can't patch by itself: its patches are put in by hand. */
async function patchNest(instrumentation) {
  const { version } = require('@nestjs/core/package.json');
  for (const { files } of instrumentation._modules) {
    for (const { name, patch } of files) patch(await import(name), version);
  }
}

/**
 * @param {{ instrumentations: object[], pgPort: number, redisPort: number, imports?: () => object[] }} options `imports`: modules
 * @returns {Promise<{ ask(path: string, headers?: object): Promise<object>, close(): Promise<void> }>}
 */
async function startShop({ instrumentations, pgPort, redisPort, imports = () => [] }) {
  const http = require('node:http');
  require('express');
  const { graphql, buildSchema } = require('graphql');
  const pg = require('pg');
  const knex = require('knex')({
    client: 'pg',
    connection: { host: '127.0.0.1', port: pgPort, user: 'postgres' },
    pool: { min: 1, max: 5 },
  });
  const mysql = require('mysql2');
  const { Redis } = require('ioredis');
  const { createClient } = require('redis');
  const isNest = (one) => one.instrumentationName === '@opentelemetry/instrumentation-nestjs-core';
  await patchNest(instrumentations.find(isNest));
  require('reflect-metadata');
  const { SpanGroup, managedSpan } = require('nest-lens');
  const { Controller, Get, Module, Param } = require('@nestjs/common');
  const { NestFactory } = require('@nestjs/core');

  const pool = new pg.Pool({ host: '127.0.0.1', port: pgPort, user: 'postgres', max: 5 });
  const ioredis = new Redis(redisPort, '127.0.0.1');
  const redis = await createClient({ url: `redis://127.0.0.1:${redisPort}` }).connect();
  const mysqlServer = await startMysql(mysql);
  const mysqlPool = mysql.createPool({ host: '127.0.0.1', port: mysqlServer.port, user: 'root' });
  const echo = await startEcho();
  const echoUrl = `http://127.0.0.1:${echo.address().port}/`;
  const rpc = await startGrpc(async () => {
    note('grpc handler');
    return (await ioredis.get('grpc')) ?? 'none';
  });
  const schema = buildSchema('type Query { stock: Stock } type Stock { name: String, count: Int }');

  const steps = {
    async pg() {
      const { rows } = await pool.query('select current_query() as query');
      sent.sql = /traceparent='([^']+)'/.exec(rows[0].query)?.[1] ?? '';
      note('after pg');
      await new Promise((resolve, reject) =>
        pool.query('select 2', (error) => {
          note('callback of pg');
          return error ? reject(error) : resolve();
        }),
      );
    },
    knex: () => knex.raw('select 3'),
    mysql: () => mysqlPool.promise().query('select 4'),
    async ioredis() {
      await ioredis.set('a', '1');
      await ioredis.pipeline().get('a').get('b').exec();
    },
    async redis() {
      await redis.set('a', '1');
      await redis.multi().get('a').get('b').exec();
    },
    async graphql() {
      const { errors } = await graphql({
        schema,
        source: '{ stock { name count } }',
        rootValue: {
          stock: async () => {
            note('resolver');
            await redis.get('graphql');
            return { name: 'anvil', count: () => 3 };
          },
        },
      });
      if (errors) throw errors[0];
    },
    http: () =>
      new Promise((resolve, reject) => {
        const request = http.get(echoUrl, { agent: false }, (response) => {
          note('response of http');
          let text = '';
          response.on('data', (chunk) => (text += chunk));
          response.on('end', () => {
            sent.http = text;
            resolve();
          });
        });
        request.on('error', reject);
      }),
    async undici() {
      sent.undici = await (await fetch(echoUrl, { headers: { connection: 'close' } })).text();
    },
    grpc: () =>
      new Promise((resolve, reject) =>
        rpc.client.Count({ name: 'anvil' }, (error, item) => (error ? reject(error) : resolve(item))),
      ),
    async prisma() {
      // As the generated client does it: one span for the operation, the engine's below it.
      const { helper } = globalThis.PRISMA_INSTRUMENTATION;
      await helper.runInChildSpan({ name: 'operation', attributes: { model: 'Order' } }, async () => {
        note('operation of prisma');
        const now = Date.now();
        const span = (id, parentId, name) => ({
          id,
          parentId,
          name,
          startTime: [Math.trunc(now / 1_000), 0],
          endTime: [Math.trunc(now / 1_000), 1],
          kind: 'client',
          attributes: {},
          links: parentId === null ? [] : ['1'],
        });
        helper.dispatchEngineSpans(
          [span('1', null, 'prisma:engine:query'), span('2', '1', 'prisma:engine:db_query')],
          [],
          () => undefined,
        );
        await Promise.resolve();
      });
    },
    own: () => managedSpan('own', 'own block', () => pool.query('select 5')),
  };

  class OrdersController {
    async list(id) {
      note('handler');
      trace.getActiveSpan()?.setAttribute('user.id', 7);
      for (const [name, step] of Object.entries(steps)) {
        await step();
        note(`after ${name}`);
      }
      return { id, active, sent };
    }
    async quick() {
      await Promise.all([steps.pg(), steps.ioredis(), steps.graphql(), steps.own(), steps.knex()]);
      return {};
    }
  }
  const decorate = (key, ...decorators) => {
    const descriptor = Object.getOwnPropertyDescriptor(OrdersController.prototype, key);
    for (const one of decorators) one(OrdersController.prototype, key, descriptor);
    Object.defineProperty(OrdersController.prototype, key, descriptor);
  };
  Param('id')(OrdersController.prototype, 'list', 0);
  decorate('list', SpanGroup('orders'), Get('orders/:id'));
  decorate('quick', Get('quick'));
  Controller()(OrdersController);
  class AppModule {}
  Module({ imports: imports(), controllers: [OrdersController] })(AppModule);
  const app = await NestFactory.create(AppModule, { logger: ['error'] });
  app.use(function audit(_request, _response, next) {
    note('middleware');
    next();
  });
  await app.listen(0, '127.0.0.1');

  const isFastify = (one) => one.instrumentationName === '@fastify/otel';
  const fastify = require('fastify')();
  await fastify.register(instrumentations.find(isFastify).plugin());
  fastify.addHook('preHandler', async function audit() {
    note('hook of fastify');
  });
  fastify.get('/fast/:id', async function fast() {
    note('handler of fastify');
    await steps.pg();
    return { active, sent };
  });
  await fastify.listen({ port: 0, host: '127.0.0.1' });

  const ports = { nest: app.getHttpServer().address().port, fastify: fastify.server.address().port };
  return {
    /** By a socket of its own: a request by http would have a client span. */
    ask(path, options) {
      active = {};
      sent = {};
      return askRaw(ports[path.startsWith('/fast') ? 'fastify' : 'nest'], path, options);
    },
    async close() {
      await Promise.all([app.close(), fastify.close(), pool.end(), knex.destroy(), redis.close()]);
      ioredis.disconnect();
      rpc.client.close();
      rpc.server.forceShutdown();
      mysqlPool.end();
      mysqlServer.close();
      echo.close();
    },
  };
}

function askRaw(port, path, { method = 'GET', headers = {}, body = '' } = {}) {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    socket.on('data', (chunk) => (text += String(chunk)));
    socket.on('error', reject);
    socket.on('close', () => {
      if (!text.startsWith('HTTP/1.1 200')) reject(new Error(text));
      else resolve(JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1)));
    });
    socket.write(
      `${method} ${path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n${lines.join('')}\r\n${body}`,
    );
  });
}

module.exports = { makeInstrumentations, startShop };
