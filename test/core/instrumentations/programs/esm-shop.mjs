// A Nest application of ES modules, started with `--import nest-lens/register`: everything that is instrumented is imported.
import 'reflect-metadata';
import http from 'node:http';
import { Controller, Get, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { trace } from '@opentelemetry/api';
import { buildSchema, graphql } from 'graphql';
import { Redis } from 'ioredis';
import { NestLensModule } from 'nest-lens';
import pg from 'pg';

const pool = new pg.Pool({ host: '127.0.0.1', port: Number(process.env.PG_PORT), user: 'postgres', max: 1 });
const redis = new Redis(Number(process.env.REDIS_PORT), '127.0.0.1');
const schema = buildSchema('type Query { stock: Int }');

class OrdersController {
  async list() {
    trace.getActiveSpan()?.setAttribute('user.id', 7);
    await pool.query('select 1');
    await graphql({
      schema,
      source: '{ stock }',
      rootValue: { stock: () => redis.get('stock').then(() => 3) },
    });
    // What a request by http says of itself, and what it leaves of the trace.
    return new Promise((resolve, reject) => {
      const echo = http.createServer((request, response) => {
        response.setHeader('connection', 'close');
        response.end(request.headers.traceparent);
      });
      echo.listen(0, '127.0.0.1', () => {
        const request = http.get({ port: echo.address().port, host: '127.0.0.1' }, (response) => {
          let text = '';
          response.on('data', (chunk) => (text += chunk));
          response.on('end', () => {
            echo.close();
            resolve(text);
          });
        });
        request.on('error', reject);
      });
    });
  }
}
const descriptor = Object.getOwnPropertyDescriptor(OrdersController.prototype, 'list');
Get('orders')(OrdersController.prototype, 'list', descriptor);
Controller()(OrdersController);

class Everybody {
  canActivate() {
    return true;
  }
}

class AppModule {}
Module({
  imports: [NestLensModule.forRoot({ introspection: { guards: [Everybody], runtimeControl: true } })],
  controllers: [OrdersController],
})(AppModule);

const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'] });
app.enableShutdownHooks();
await app.listen(0, '127.0.0.1');
console.log(`READY ${await app.getUrl()}`);
