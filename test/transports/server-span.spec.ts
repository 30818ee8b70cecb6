import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SpanKind } from '@opentelemetry/api';
import http from 'node:http';
import { type ChildProgram, startProgram } from '../support/child-program.js';

interface PlainSpan {
  name: string;
  kind: SpanKind;
  traceId: string;
  spanId: string;
  parentSpanId: string | null;
  attributes: Record<string, unknown>;
  status: number;
}

interface RoutedRequest {
  readonly title: string;
  readonly method?: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly status?: number;
  readonly text?: string;
  /** The route that the server span gets; absent: none. */
  readonly route?: string;
  /** The handler whose span is the child of the server span; absent: there is none. */
  readonly handler?: string;
  /** Further spans of the request, below the handler's. */
  readonly below?: readonly string[];
  /** The handler has several routes, so its own span doesn't say which one it was. */
  readonly hasSeveralRoutes?: true;
}

const CALLERS_SPAN = 'b7ad6b7169203331';

const withUriVersions = (wildcard: string): readonly RoutedRequest[] => [
  {
    title: 'prefix and default version',
    path: '/api/v1/orders',
    route: '/api/v1/orders',
    handler: 'OrdersController.list',
    text: 'list',
  },
  {
    title: 'a parameter',
    path: '/api/v1/orders/7?query=secret',
    route: '/api/v1/orders/:id',
    handler: 'OrdersController.read',
    text: 'read 7',
    below: ['inside'],
  },
  {
    title: 'a version of the handler',
    path: '/api/v2/orders/7',
    route: '/api/v2/orders/:id',
    handler: 'OrdersController.readAgain',
    text: 'read 7 again',
  },
  {
    title: 'another method',
    method: 'POST',
    path: '/api/v1/orders',
    status: 201,
    route: '/api/v1/orders',
    handler: 'OrdersController.place',
  },
  {
    title: 'a handler that throws',
    path: '/api/v1/orders/7/lines/2',
    status: 404,
    route: '/api/v1/orders/:id/lines/:line',
    handler: 'OrdersController.fail',
  },
  {
    title: 'a stream of events',
    path: '/api/v1/orders/7/events',
    route: '/api/v1/orders/:id/events',
    handler: 'OrdersController.events',
  },
  ...['/api/v1/cats', '/api/v2/dogs', '/api/v2/cats/all/wild'].map((path) => ({
    title: `several paths and versions: ${path}`,
    path,
    route: path.replace('wild', ':kind'),
    handler: 'AnimalsController.list',
    text: 'animals',
    hasSeveralRoutes: true as const,
  })),
  {
    title: 'no version, outside of the prefix by a pattern, with any method',
    method: 'PATCH',
    path: '/neutral/any/thing',
    route: '/neutral/any/:thing',
    handler: 'NeutralController.any',
    text: 'any',
  },
  {
    title: 'a wildcard',
    path: '/api/neutral/files/a/b/c.txt',
    route: `/api/neutral/files/${wildcard}`,
    handler: 'NeutralController.file',
    text: 'file',
  },
  {
    title: 'outside of the prefix',
    path: '/health',
    route: '/health',
    handler: 'HealthController.check',
    text: 'up',
  },
  { title: 'a group that is off', path: '/api/health/deep', text: 'up' },
  {
    title: 'the path of a module, and of the module above it',
    path: '/api/v1/warehouses/north/shelf/stock/tea',
    route: '/api/v1/warehouses/:warehouse/shelf/stock/:product',
    handler: 'StockController.read',
    text: 'stock',
  },
  ...['desk', 'mail'].map((module) => ({
    title: `a controller of several modules: ${module}`,
    path: `/api/v1/${module}/returns/7`,
    route: `/api/v1/${module}/returns/:id`,
    handler: 'ReturnsController.read',
    text: 'return',
    hasSeveralRoutes: true as const,
  })),
  {
    title: 'a host',
    path: '/api/hosted/7',
    headers: { host: 'acme.shop.test' },
    route: '/api/hosted/:id',
    handler: 'TenantController.read',
    text: 'acme',
  },
  {
    title: 'a request-scoped provider',
    path: '/api/v1/baskets/7',
    route: '/api/v1/baskets/:id',
    handler: 'BasketsController.read',
    text: '/api/v1/baskets/7',
    below: ['Basket.url'],
  },
  ...['1', '1', '2'].map((made, at) => ({
    title: `a durable provider, request ${at + 1}`,
    path: '/api/v1/prices/7',
    headers: { 'x-tenant': `tenant-${made}` },
    route: '/api/v1/prices/:id',
    handler: 'PricesController.read',
    text: made,
    below: ['TenantPrices.made'],
  })),
  { title: 'a guard that refuses', path: '/api/v1/closed', status: 403 },
  { title: 'no route', path: '/api/v1/nowhere', status: 404 },
];

/** Express takes no notice of case and of a slash at the end. */
const onExpress: readonly RoutedRequest[] = [
  {
    title: 'several paths, in upper case, with a slash at the end',
    path: '/api/v2/CATS/All/wild/',
    route: '/api/v2/cats/all/:kind',
    handler: 'AnimalsController.list',
    hasSeveralRoutes: true,
  },
  {
    title: 'one path, in upper case, with a slash at the end',
    path: '/api/v1/Orders/7/',
    route: '/api/v1/orders/:id',
    handler: 'OrdersController.read',
    below: ['inside'],
  },
];

/** A handler whose routes are written in the router's own way. */
const ownTemplates = (platform: string): readonly RoutedRequest[] => {
  const [roads, numbers, files] =
    platform === 'Fastify' ? ['/:from?', '/:n(^\\d+$)', '/*'] : ['{/:from}', '/:n', '/*path'];
  return [
    ['/tiles/3-4', '/tiles/:x-:y'],
    ['/roads/rome', `/roads${roads}`],
    ['/roads', `/roads${roads}`],
    ['/numbers/7', `/numbers${numbers}`],
    ['/files/a/b.png', `/files${files}`],
  ].map(([path, route]) => ({
    title: `a template of the router: ${path}`,
    path: `/api/maps${path}`,
    route: `/api/maps${route}`,
    handler: 'MapsController.read',
    text: 'map',
    hasSeveralRoutes: true,
  }));
};

const withHeaderVersions: readonly RoutedRequest[] = [
  {
    title: 'the default version',
    path: '/orders/7',
    headers: { 'x-version': '1' },
    route: '/orders/:id',
    handler: 'OrdersController.read',
    text: 'read 7',
    below: ['inside'],
  },
  {
    title: 'a version of the handler',
    path: '/orders/7',
    headers: { 'x-version': '2' },
    route: '/orders/:id',
    handler: 'OrdersController.readAgain',
    text: 'read 7 again',
  },
  {
    title: 'several paths',
    path: '/dogs/all/tame',
    headers: { 'x-version': '2' },
    route: '/dogs/all/:kind',
    handler: 'AnimalsController.list',
    hasSeveralRoutes: true,
  },
  {
    title: 'the path of a module',
    path: '/warehouses/south/shelf/stock/tea',
    headers: { 'x-version': '1' },
    route: '/warehouses/:warehouse/shelf/stock/:product',
    handler: 'StockController.read',
  },
];

const shops = ['Express', 'Fastify'].flatMap((platform) =>
  [false, true].flatMap((intercepted) => [
    {
      platform,
      intercepted,
      versions: 'uri',
      requests: [
        ...withUriVersions(platform === 'Fastify' ? '*' : '*path'),
        ...ownTemplates(platform),
        ...(platform === 'Express' ? onExpress : []),
      ],
    },
    { platform, intercepted, versions: 'header', requests: withHeaderVersions },
  ]),
);

/** Sends a request as a caller whose trace is `traceId`. */
function send(
  port: number,
  traceId: string,
  { method = 'GET', path, headers }: RoutedRequest,
): Promise<{ status?: number; text: string }> {
  return new Promise((resolve, reject) => {
    const options = {
      host: '127.0.0.1',
      port,
      method,
      path,
      agent: false,
      headers: { ...headers, traceparent: `00-${traceId}-${CALLERS_SPAN}-01` },
    };
    const request = http.request(options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode, text: Buffer.concat(chunks).toString() }),
      );
    });
    request.on('error', reject);
    request.end();
  });
}

/** The finished spans, once the server spans of these traces are among them. */
async function spansOf(program: ChildProgram, traceIds: readonly string[]): Promise<PlainSpan[]> {
  const giveUpAt = Date.now() + 3_000;
  for (;;) {
    const spans = (await program.ask('spans')) as PlainSpan[];
    const servers = spans.filter(({ kind }) => kind === SpanKind.SERVER).map(({ traceId }) => traceId);
    if (traceIds.every((id) => servers.includes(id)) || Date.now() > giveUpAt) return spans;
  }
}

describe('with instrumentation-http', () => {
  let program: ChildProgram;
  let traces = 0;

  beforeAll(async () => {
    program = await startProgram('routed-shop', {
      nodeOptions: ['--import', './start-http-sdk.js'],
      env: {
        NEST_LENS_ENABLED: 'true',
        NEST_LENS_SPAN_GROUPS: 'orders',
        NEST_LENS_METRICS_ENABLED: 'false',
      },
    });
  }, 20_000);

  afterAll(() => program.stop());

  it.each(shops)(
    'I10, I11: the server span gets the full route, the handler span is its child: $platform, versions: $versions, intercepted: $intercepted',
    async ({ platform, intercepted, versions, requests }) => {
      const port = program.ready[`${platform},${intercepted},${versions}`] as number;
      const sent = new Map<string, RoutedRequest>();
      for (const request of requests) {
        const traceId = String((traces += 1)).padStart(32, '0');
        sent.set(traceId, request);
        const { title, status = 200, text } = request;
        const answer = await send(port, traceId, request);
        expect({ title, status: answer.status, text: text && answer.text }).toEqual({ title, status, text });
      }
      const spans = await spansOf(program, [...sent.keys()]);

      for (const [traceId, { title, method = 'GET', route, ...request }] of sent) {
        const ofRequest = spans.filter((span) => span.traceId === traceId);
        const [server] = ofRequest.filter(({ kind }) => kind === SpanKind.SERVER);
        const handlers = ofRequest.filter((span) => span.parentSpanId === server?.spanId);
        const below = ofRequest.filter((span) => span !== server && !handlers.includes(span));
        expect({
          title,
          server: [server?.name, server?.attributes['http.route'], server?.parentSpanId],
          handlers: handlers.map(({ name, attributes }) => [name, attributes['http.route']]),
          below: below.map(({ name, parentSpanId }) => [name, parentSpanId]),
        }).toEqual({
          title,
          server: [route === undefined ? method : `${method} ${route}`, route, CALLERS_SPAN],
          handlers: request.handler ? [[request.handler, request.hasSeveralRoutes ? undefined : route]] : [],
          below: (request.below ?? []).map((name) => [name, handlers[0]?.spanId]),
        });
      }
      expect(program.output()).toBe('');
    },
  );
});
