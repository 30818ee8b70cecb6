// An application of ES modules with every instrumentation that is installed, and what an operator does to it while it runs.
import { fileURLToPath } from 'node:url';
import { expect, it, vi } from 'vitest';
import { hasBroker, startBroker } from '../../support/broker-servers.js';
import { type ReceivedSpan, startReceiver } from '../../support/otlp-receiver.js';
import { hasPostgres, startPostgres } from '../../support/postgres-server.js';
import { type ShopProcess, startShop } from '../../support/shop-process.js';
import { describeWith } from '../../support/describe-with.js';

vi.setConfig({ testTimeout: 180_000 });

const isInstalled = hasPostgres() && hasBroker('redis');

/** Each request has a trace of its own, which its number names. */
const traceOf = (request: number): string => String(request).padStart(32, 'a');

async function ask(shop: ShopProcess, request: number): Promise<string> {
  const headers = { traceparent: `00-${traceOf(request)}-b7ad6b7169203331-01` };
  return (await fetch(`${await shop.url()}/orders`, { headers })).text();
}

async function control(shop: ShopProcess, method: string, body?: object): Promise<any> {
  const response = await fetch(`${await shop.url()}/lens/groups`, {
    method,
    ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });
  expect(response.status).toBe(200);
  return response.json();
}

const scopeOf = ({ scope, name }: ReceivedSpan): string =>
  `${scope.name.replace('@opentelemetry/instrumentation-', '')} ${name}`;

describeWith('postgresql or redis-server', isInstalled, 'nest-lens/register, and ES modules', () => {
  it('T7: PUT turns pg on in the running process, and DELETE turns it off again', async () => {
    const [postgres, redis, receiver] = await Promise.all([
      startPostgres(),
      startBroker('redis'),
      startReceiver(),
    ]);
    try {
      const shop = startShop({
        nodeArguments: ['--import', 'nest-lens/register'],
        script: fileURLToPath(new URL('./programs/esm-shop.mjs', import.meta.url)),
        env: {
          PG_PORT: String(postgres.port),
          REDIS_PORT: String(redis.port),
          NEST_LENS_INSTRUMENTATION_GROUPS: 'true',
          NEST_LENS_SPAN_GROUPS: 'default',
          OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
          OTEL_NODE_ENABLED_INSTRUMENTATIONS: 'http,express,pg,ioredis,graphql',
        },
      });
      const answers = [await ask(shop, 1)];
      const { groups } = await control(shop, 'PUT', { spec: 'default,pg', ttlSeconds: 900 });
      answers.push(await ask(shop, 2));
      await control(shop, 'PUT', { spec: 'all,-graphql,-express' });
      answers.push(await ask(shop, 3));
      await control(shop, 'DELETE');
      answers.push(await ask(shop, 4));
      await shop.kill('SIGTERM');
      expect(shop.warnings()).toEqual([]);

      const known = groups.map(({ name, kind }: { name: string; kind?: string }) => [name, kind]);
      expect(known).toEqual(
        ['express', 'graphql', 'graphql_resolve', 'http_client', 'http_server', 'ioredis', 'pg'].map(
          (name) => [name, 'instrumentation'],
        ),
      );
      const spansOf = (request: number): ReceivedSpan[] =>
        receiver.spans.filter(({ traceId }) => traceId === traceOf(request));
      // The application's own request comes back to it: two server spans.
      expect(spansOf(1).map(scopeOf).sort()).toEqual(['http GET', 'http GET /orders']);
      expect(spansOf(2).map(scopeOf).sort()).toEqual([
        'http GET',
        'http GET /orders',
        expect.stringMatching(/^pg pg-pool.connect/),
        'pg pg.query:SELECT postgres',
      ]);
      expect(spansOf(3).map(scopeOf).sort()).toEqual([
        'graphql graphql.resolve stock',
        'http GET',
        'http GET',
        'http GET /orders',
        'ioredis get',
        expect.stringMatching(/^pg pg-pool.connect/),
        'pg pg.query:SELECT postgres',
      ]);
      expect(spansOf(4).map(scopeOf).sort()).toEqual(['http GET', 'http GET /orders']);
      for (const request of [1, 2, 3, 4]) {
        const server = spansOf(request).find(({ name }) => name === 'GET /orders')!;
        expect(server.attributes).toMatchObject({ 'user.id': 7, 'http.route': '/orders' });
        const client = spansOf(request).find(({ name, kind }) => name === 'GET' && kind === 3);
        expect(answers[request - 1]).toBe(`00-${traceOf(request)}-${(client ?? server).spanId}-01`);
      }
    } finally {
      await Promise.all([postgres.stop(), redis.stop()]);
    }
  });
});
