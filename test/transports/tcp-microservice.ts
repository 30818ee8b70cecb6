import type { INestMicroservice } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  type ClientProxy,
  ClientProxyFactory,
  type MicroserviceOptions,
  Transport,
} from '@nestjs/microservices';
import type { Server } from 'node:net';
import type { AddressInfo } from 'node:net';
import type { LensAppBuilder } from '../support/lens-app.js';
import { closeAfterTest } from '../support/close-after-test.js';

/** What a client got: all values, and the error if it ended with one. */
export interface Answer {
  readonly values: unknown[];
  readonly error?: unknown;
}

export interface TcpMicroservice {
  readonly app: INestMicroservice;
  readonly client: ClientProxy;
  send(pattern: string, data?: unknown): Promise<Answer>;
}

/** A microservice of its own, without HTTP, and a client that is connected to it. */
export async function startMicroservice(builder: LensAppBuilder): Promise<TcpMicroservice> {
  const app = await NestFactory.createMicroservice<MicroserviceOptions>(builder.root(), {
    transport: Transport.TCP,
    options: { host: '127.0.0.1', port: 0 },
    logger: false,
    abortOnError: false,
  });
  closeAfterTest(() => app.close());
  await app.listen();
  const client = await connectTo(app);
  return { app, client, send: (pattern, data = {}) => answerOf(client, pattern, data) };
}

/** A client of a microservice that listens. */
export async function connectTo(microservice: INestMicroservice): Promise<ClientProxy> {
  const { port } = microservice.unwrap<Server>().address() as AddressInfo;
  const client = ClientProxyFactory.create({
    transport: Transport.TCP,
    options: { host: '127.0.0.1', port },
  });
  closeAfterTest(() => client.close());
  await client.connect();
  return client;
}

export function answerOf(client: ClientProxy, pattern: string, data: unknown): Promise<Answer> {
  return new Promise((resolve) => {
    const values: unknown[] = [];
    client.send(pattern, data).subscribe({
      next: (value) => values.push(value),
      error: (error: unknown) => resolve({ values, error }),
      complete: () => resolve({ values }),
    });
  });
}
