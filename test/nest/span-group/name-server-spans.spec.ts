import { describe, expect, it } from 'vitest';
import { Controller, Get, RequestMethod } from '@nestjs/common';
import { type AbstractHttpAdapter, NestFactory } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { context, createContextKey } from '@opentelemetry/api';
import { NestLensModule, SpanRegistry } from 'nest-lens';
import { nameServerSpans } from '../../../src/nest/span-group/name-server-spans.js';
import { express, onEachPlatform } from '../../support/adapters.js';
import { guardEachTest, lensApp } from '../../support/lens-app.js';
import { quietConfig, setUpForTest } from '../../support/live-telemetry.js';

const RPC_METADATA = createContextKey('OpenTelemetry SDK Context Key RPC_METADATA');

onEachPlatform('the routes of an application', (platform) => {
  @Controller('orders')
  class OrdersController {
    @Get(':id')
    read(): string {
      return 'read';
    }
  }

  /** What stands on the adapter itself, and not on its class, once Nest has registered routes. */
  async function registrationsOf(enabled: boolean): Promise<string[]> {
    const adapter = platform.create();
    const own = new Set(Object.keys(adapter));
    class AppModule {}
    const registrations = [{ namespace: 'shop', groups: ['orders'] }];
    const root = {
      module: AppModule,
      imports: [NestLensModule.forRoot({ registrations, config: quietConfig({ enabled }) })],
      controllers: [OrdersController],
    };
    const app = await NestFactory.create(root, adapter, { logger: false });
    await app.init();
    const added = Object.keys(adapter).filter(
      (key) => !own.has(key) && key in Object.getPrototypeOf(adapter),
    );
    await app.close();
    return added;
  }

  it('I13, H2: are registered by the adapter itself while telemetry is off', async () => {
    expect(await registrationsOf(false)).toEqual([]);
  });

  it('I13: are known for every method that Nest has', async () => {
    const methods = Object.values(RequestMethod).filter((method) => typeof method === 'string');
    const known = await registrationsOf(true);
    const adapter = platform.create() as unknown as Record<string, unknown>;

    for (const method of methods.map((name) => name.toLowerCase())) {
      expect({ method, isKnown: known.includes(method) }).toEqual({ method, isKnown: method in adapter });
    }
  });

  it.each(['of the module', 'of the application itself'])(
    'I13: are known where the set-up is that %s',
    async (whose) => {
      const ofModule = whose === 'of the module';
      const builder = lensApp(platform).controllers(OrdersController);
      if (ofModule) builder.groups('orders');
      else {
        SpanRegistry.register('shop', ['orders']);
        await setUpForTest();
        builder.imports(NestLensModule.forRoot());
      }
      // As instrumentation-http leaves it.
      const metadata: { type: string; route?: string } = { type: 'http' };
      builder.configure((app) =>
        app.use((_request: unknown, _response: unknown, next: () => void) =>
          context.with(context.active().setValue(RPC_METADATA, metadata), next),
        ),
      );
      const lens = await builder.start();
      await lens.get('/orders/7');

      expect(metadata.route).toBe('/orders/:id');
    },
  );

  it('I13: are known in an application of a testing module, whose adapter comes late', async () => {
    const builder = lensApp(platform).groups('orders').controllers(OrdersController);
    const metadata: { type: string; route?: string } = { type: 'http' };
    builder.configure((app) =>
      app.use((_request: unknown, _response: unknown, next: () => void) =>
        context.with(context.active().setValue(RPC_METADATA, metadata), next),
      ),
    );
    const testing = await Test.createTestingModule({ imports: [builder.root()] }).compile();
    const lens = await builder.serve(testing.createNestApplication(platform.create()));
    await lens.get('/orders/7');

    expect(metadata.route).toBe('/orders/:id');
  });
});

describe('a handler of a route', () => {
  guardEachTest();

  type Handler = (...args: never[]) => unknown;

  /** What the framework gets for a handler that is registered after the adapter has learnt to name routes. */
  function registered(handler: Handler, type: string): Handler {
    const got: Handler[] = [];
    const adapter = {
      get: (_path: string, ...handlers: Handler[]) => got.push(...handlers),
      getType: () => type,
      getHttpServer: () => undefined,
    };
    nameServerSpans(adapter as unknown as AbstractHttpAdapter);
    adapter.get('/orders/:id', handler);
    return got[0]!;
  }

  it('I13: shows its name, parameters, own properties and metadata to the framework', () => {
    const handler = Object.assign((_request: unknown, _response: unknown): string => 'read', {
      version: '2',
    });
    Object.defineProperty(handler, 'name', { value: 'OrdersController.read' });
    Reflect.defineMetadata('route options', { limit: 3 }, handler);
    const given = registered(handler, 'another framework');
    const { name, length, version } = given as typeof handler;

    expect(given).not.toBe(handler);
    expect({ name, length, version }).toEqual({ name: 'OrdersController.read', length: 2, version: '2' });
    expect(Reflect.getMetadata('route options', given)).toEqual({ limit: 3 });
  });

  it('I13: shows its name to Express, whose instrumentations tell it', () => {
    const handler = (): string => 'read';
    const given = registered(handler, 'express');

    expect(given).not.toBe(handler);
    expect(given.name).toBe('handler');
  });

  it('I13: of four parameters, which gets errors, is left alone', () => {
    const handler = (_error: unknown, _request: unknown, _response: unknown, _next: unknown): string =>
      'failed';

    expect(registered(handler, 'express')).toBe(handler);
  });

  it('I13: of four parameters answers an error on Express', async () => {
    const lens = await lensApp(express)
      .groups('orders')
      .configure((app) => {
        const adapter = app.getHttpAdapter() as unknown as {
          get(path: string, ...handlers: Handler[]): void;
        };
        adapter.get(
          '/failing',
          () => {
            throw new Error('closed');
          },
          (error: Error, _request: unknown, response: { send(text: string): void }, next: unknown) =>
            response.send(`${error.message}, ${typeof next}`),
        );
      })
      .start();

    expect((await lens.get('/failing')).text).toBe('closed, function');
  });
});
