/**
 * The sample shop in a process of its own, over the PostgreSQL that DATABASE_URL names. Its instrumentations are loaded before it, as
 * users do: `--import sample-app/dist/tracing.js`. Its spans go to a collector, by OTLP.
 */
import { argv } from 'node:process';
import { NestFactory } from '@nestjs/core';
import { trace } from '@opentelemetry/api';
import { setSpanGroupSpec } from 'nest-lens';
import { AppModule } from '../sample-app/dist/app.module.js';

const { way } = JSON.parse(argv[2]);

const lens = { config: { spanGroups: 'all' }, instrumentationGroups: way === 'gated', introspection: false };
const app = await NestFactory.create(AppModule.create(lens), { logger: ['error', 'warn'] });
app.enableShutdownHooks();
await app.listen(0, '127.0.0.1');
const { port } = app.getHttpServer().address();
const order = await fetch(`http://127.0.0.1:${port}/orders`, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ lines: [{ productId: 1, quantity: 1 }], card: '4242424242424242' }),
});
const { id } = await order.json();

const flush = () => trace.getTracerProvider().getDelegate().forceFlush();
let start;
const answers = {
  async start({ spec }) {
    setSpanGroupSpec(spec);
    await flush();
    globalThis.gc();
    start = process.cpuUsage();
  },
  async stop() {
    await flush();
    const { user, system } = process.cpuUsage(start);
    return { cpuUs: user + system };
  },
};
process.on('message', ({ what, ...task }) => {
  void answers[what](task).then((answer) => process.send(answer ?? {}));
});
process.on('disconnect', () => process.exit());
process.send({ port, path: `/orders/${id}` });
