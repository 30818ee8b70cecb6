import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BullModule } from '@nestjs/bullmq';
import type { Type } from '@nestjs/common';
import { ClientsModule, type MicroserviceOptions, Transport } from '@nestjs/microservices';
import { SpanKind } from '@opentelemetry/api';
import { withSpan } from 'nest-lens';
import { lastValueFrom, type Observable } from 'rxjs';
import { express } from '../support/adapters.js';
import { type BrokerKind, type BrokerServer, hasBroker, startBroker } from '../support/broker-servers.js';
import { guardEachTest, lensApp, parentIdOf, theSpan } from '../support/lens-app.js';
import { describeWith } from '../support/describe-with.js';

/** What the snippets of all brokers have in common. */
interface Snippet {
  readonly OrdersProducer: Type<{ place(product: string): Observable<string> }>;
  readonly OrdersConsumer: Type<unknown>;
}

interface Recipe {
  readonly kind: BrokerKind;
  readonly snippet: () => Promise<Snippet>;
  readonly optionsOf: (port: number) => MicroserviceOptions;
}

const recipes: Recipe[] = [
  {
    kind: 'redis',
    snippet: () => import('./snippets/messages-redis.js'),
    optionsOf: (port) => ({ transport: Transport.REDIS, options: { host: '127.0.0.1', port } }),
  },
  {
    kind: 'rabbitmq',
    snippet: () => import('./snippets/messages-rabbitmq.js'),
    optionsOf: (port) => ({
      transport: Transport.RMQ,
      options: { urls: [`amqp://127.0.0.1:${port}`], queue: 'orders', queueOptions: { durable: false } },
    }),
  },
  {
    kind: 'nats',
    snippet: () => import('./snippets/messages-nats.js'),
    optionsOf: (port) => ({ transport: Transport.NATS, options: { servers: [`nats://127.0.0.1:${port}`] } }),
  },
  {
    kind: 'mosquitto',
    snippet: () => import('./snippets/messages-mqtt.js'),
    // Headers came with version 5 of the protocol.
    optionsOf: (port) => ({
      transport: Transport.MQTT,
      options: { url: `mqtt://127.0.0.1:${port}`, protocolVersion: 5 },
    }),
  },
];

/** Runs a test with a server of its own. */
function withBroker(kind: BrokerKind, title: string, test: (port: number) => Promise<void>): void {
  describeWith(kind, hasBroker(kind), `on ${kind}`, () => {
    guardEachTest();
    let server: BrokerServer;
    beforeAll(async () => {
      server = await startBroker(kind);
    }, 90_000);
    afterAll(() => server?.stop(), 20_000);
    it(title, () => test(server.port), 20_000);
  });
}

describe('docs/messages.md', () => {
  for (const { kind, snippet, optionsOf } of recipes) {
    withBroker(kind, "N4, I8: the consumer's span is below the producer's", async (port) => {
      const { OrdersProducer, OrdersConsumer } = await snippet();
      const options = optionsOf(port);
      const lens = await lensApp(express)
        .groups('orders')
        .imports(ClientsModule.register([{ name: 'BROKER', ...options } as never]))
        .providers(OrdersProducer)
        .controllers(OrdersConsumer)
        .configure((app) => void app.connectMicroservice(options))
        .start();
      await lens.app.startAllMicroservices();

      const producer = lens.app.get(OrdersProducer);
      expect(await withSpan('request', () => lastValueFrom(producer.place('tea')))).toBe('placed tea');
      const spans = await lens.spans();
      const request = theSpan(spans, 'request');
      const consumer = theSpan(spans, 'OrdersConsumer.place');
      expect(parentIdOf(consumer)).toBe(request.spanContext().spanId);
      expect(consumer.spanContext().traceId).toBe(request.spanContext().traceId);
      expect(consumer.kind).toBe(SpanKind.CONSUMER);
      // The broker confirms the reply after it has delivered it. Nobody shows when, and a close before that rejects.
      if (kind === 'rabbitmq') await new Promise((resolve) => setTimeout(resolve, 300));
    });
  }

  withBroker(
    'redis',
    "N4, I8: BullMQ: the worker's span is below that of whoever added the job",
    async (port) => {
      const { MailQueue, MailWorker } = await import('./snippets/messages-bullmq.js');
      const lens = await lensApp(express)
        .groups('jobs')
        .imports(
          BullModule.forRoot({ connection: { host: '127.0.0.1', port } }),
          BullModule.registerQueue({ name: 'mails' }),
        )
        .providers(MailQueue, MailWorker)
        .start();
      const done = new Promise((resolve) => lens.app.get(MailWorker).worker.once('completed', resolve));
      await withSpan('request', () => lens.app.get(MailQueue).send('me'));
      await done;

      const spans = await lens.spans();
      const worker = theSpan(spans, 'MailWorker.process');
      expect(parentIdOf(worker)).toBe(theSpan(spans, 'request').spanContext().spanId);
      expect([worker.kind, worker.attributes['nestlens.group']]).toEqual([SpanKind.CONSUMER, 'jobs']);
    },
  );
});
