import { beforeAll, describe, expect, it } from 'vitest';
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
  readonly body?: string;
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
  { title: 'a group that is off', path: '/api/health/deep', route: '/api/health/deep', text: 'up' },
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
  { title: 'a guard that refuses', path: '/api/v1/closed', route: '/api/v1/closed', status: 403 },
  { title: 'no group', path: '/api/plain/7', route: '/api/plain/:id', text: 'plain 7' },
  {
    title: 'a pipe that refuses',
    path: '/api/plain/x/number',
    route: '/api/plain/:id/number',
    status: 400,
  },
  {
    title: 'a guard that throws a 404',
    path: '/api/plain/7/guarded',
    route: '/api/plain/:id/guarded',
    status: 404,
  },
  {
    title: 'an interceptor that throws',
    path: '/api/plain/7/intercepted',
    route: '/api/plain/:id/intercepted',
    status: 503,
  },
  { title: 'HEAD of a GET', method: 'HEAD', path: '/api/plain/7', route: '/api/plain/:id' },
  {
    title: 'a body',
    method: 'POST',
    path: '/api/plain/7/body',
    headers: { 'content-type': 'application/json' },
    body: '{}',
    route: '/api/plain/:id/body',
    text: '{}',
  },
  { title: 'no route', path: '/api/v1/nowhere', status: 404 },
  { title: 'no route for the method', method: 'DELETE', path: '/api/v1/orders', status: 404 },
  { title: 'no route for the version', path: '/api/v3/orders/7', status: 404 },
];

const BAD_BODY = {
  title: 'a body that cannot be read',
  method: 'POST',
  path: '/api/plain/7/body',
  headers: { 'content-type': 'application/json' },
  body: '{',
  status: 400,
};

const onFastify: readonly RoutedRequest[] = [
  // Fastify reads the body after it has chosen the route, Express before.
  { ...BAD_BODY, route: '/api/plain/:id/body' },
  ...['first', 'last'].flatMap((refused) =>
    [
      ['/api/plain/7', '/api/plain/:id'],
      ['/api/v1/orders', '/api/v1/orders'],
      ['/raw/7', '/raw/:id'],
    ].map(([path, route]) => ({
      title: `a hook of Fastify that answers, the ${refused}: ${path}`,
      path: path!,
      headers: { 'x-refused': refused },
      status: refused === 'first' ? 401 : 403,
      text: 'refused',
      route: route!,
    })),
  ),
  {
    title: 'a hook of Fastify that answers where there is no route',
    path: '/api/nowhere',
    headers: { 'x-refused': 'first' },
    status: 401,
  },
  { title: 'a route of Fastify', path: '/raw/7?query=secret', route: '/raw/:id', text: 'raw' },
  { title: 'a route of a plugin of Fastify', path: '/below/7', route: '/below/:id', text: 'raw' },
  { title: 'HEAD of a route of Fastify', method: 'HEAD', path: '/raw/7', route: '/raw/:id' },
  {
    title: 'a handler that asks another route within the process',
    path: '/api/plain/7/calls',
    route: '/api/plain/:id/calls',
    text: 'up',
  },
];

/** Express takes no notice of case and of a slash at the end. */
const onExpress: readonly RoutedRequest[] = [
  BAD_BODY,
  { title: 'a route of Express', path: '/raw/7?query=secret', route: '/raw/:id', text: 'raw' },
  { title: 'HEAD of a route of Express', method: 'HEAD', path: '/raw/7', route: '/raw/:id' },
  {
    title: 'a route of a Router of Express, whose template it does not tell',
    path: '/below/acme/7',
    text: 'raw',
  },
  { title: 'a middleware of Express that answers', path: '/middleware/7', text: 'middleware' },
  { title: 'a handler that passes the request on, to nobody', path: '/api/plain/7/passes', status: 404 },
  {
    title: 'another host',
    path: '/api/hosted/7',
    headers: { host: 'elsewhere.test' },
    status: 404,
  },
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
  { title: 'no such version', path: '/orders/7', headers: { 'x-version': '9' }, status: 404 },
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
        ...(platform === 'Express' ? onExpress : onFastify),
      ],
    },
    { platform, intercepted, versions: 'header', requests: withHeaderVersions },
  ]),
);

/** Sends a request as a caller whose trace is `traceId`. */
function send(
  port: number,
  traceId: string,
  { method = 'GET', path, headers, body }: RoutedRequest,
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
    request.end(body);
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

type Shop = (typeof shops)[number];
const ofShop = ({ platform, intercepted, versions }: Shop): string =>
  `${platform},${intercepted},${versions}`;
const notIntercepted = shops.filter(({ intercepted }) => !intercepted);
let traces = 0;

const startShops = (groups: string, env: Record<string, string> = {}): Promise<ChildProgram> =>
  startProgram('routed-shop', {
    nodeOptions: ['--import', './start-http-sdk.js'],
    env: {
      NEST_LENS_ENABLED: 'true',
      NEST_LENS_SPAN_GROUPS: groups,
      NEST_LENS_METRICS_ENABLED: 'false',
      ...env,
    },
  });

interface AnsweredRequest {
  readonly request: RoutedRequest;
  readonly answer: { status?: number; text: string };
  readonly server: PlainSpan | undefined;
  /** All spans of the request, the server span among them. */
  readonly spans: readonly PlainSpan[];
}

/** Sends the requests of each shop. */
async function answersOf(
  program: ChildProgram,
  asked: readonly Shop[],
): Promise<Map<string, AnsweredRequest[]>> {
  const answered = new Map<string, AnsweredRequest[]>();
  for (const shop of asked) {
    const port = program.ready[ofShop(shop)] as number;
    const sent: Pick<AnsweredRequest, 'request' | 'answer'>[] = [];
    const firstTrace = traces + 1;
    const traceIdAt = (at: number): string => String(firstTrace + at).padStart(32, '0');
    for (const request of shop.requests) {
      sent.push({ request, answer: await send(port, traceIdAt(sent.length), request) });
    }
    traces += sent.length;
    const spans = await spansOf(
      program,
      sent.map((_request, at) => traceIdAt(at)),
    );
    answered.set(
      ofShop(shop),
      sent.map((each, at) => {
        const ofRequest = spans.filter(({ traceId }) => traceId === traceIdAt(at));
        return { ...each, spans: ofRequest, server: ofRequest.find(({ kind }) => kind === SpanKind.SERVER) };
      }),
    );
  }
  return answered;
}

const nameAndRoute = (span: PlainSpan | undefined): unknown[] => [span?.name, span?.attributes['http.route']];
const expectedOf = ({ method = 'GET', route }: RoutedRequest): unknown[] => [
  route === undefined ? method : `${method} ${route}`,
  route,
];
const routesOf = (asked: readonly Shop[]): Set<string | null> =>
  new Set(asked.flatMap(({ requests }) => requests.map(({ route }) => route ?? null)));

function expectAnswered({ request: { title, status = 200, text }, answer }: AnsweredRequest): void {
  expect({ title, status: answer.status, text: text && answer.text }).toEqual({ title, status, text });
}

const title = '$platform, versions: $versions, intercepted: $intercepted';

/** One process, whose groups are off at first and then on. */
describe('with instrumentation-http', () => {
  const seen = {
    off: new Map<string, AnsweredRequest[]>(),
    on: new Map<string, AnsweredRequest[]>(),
    routes: { off: [] as unknown[], on: [] as unknown[] },
    output: '',
  };
  beforeAll(async () => {
    const program = await startShops('-all');
    try {
      seen.off = await answersOf(program, notIntercepted);
      seen.routes.off = await program.ask('routes');
      await program.ask('orders');
      seen.on = await answersOf(program, shops);
      seen.routes.on = await program.ask('routes');
      seen.output = program.output();
    } finally {
      await program.stop();
    }
  });

  it.each(shops)(
    `I10, I11, I13: the server span has the full route, and the handler's span is its child: ${title}`,
    (shop) => {
      for (const answered of seen.on.get(ofShop(shop))!) {
        expectAnswered(answered);
        const { request, server, spans } = answered;
        const handlers = spans.filter((span) => span.parentSpanId === server?.spanId);
        const below = spans.filter((span) => span !== server && !handlers.includes(span));
        const { title, route } = request;
        expect({
          title,
          server: [...nameAndRoute(server), server?.parentSpanId],
          handlers: handlers.map(nameAndRoute),
          below: below.map(({ name, parentSpanId }) => [name, parentSpanId]),
        }).toEqual({
          title,
          server: [...expectedOf(request), CALLERS_SPAN],
          handlers: request.handler ? [[request.handler, request.hasSeveralRoutes ? undefined : route]] : [],
          below: (request.below ?? []).map((name) => [name, handlers[0]?.spanId]),
        });
      }
    },
  );

  it.each(notIntercepted)(
    `I11, I13: with every group off, the server span has the same full route and no child: ${title}`,
    (shop) => {
      for (const answered of seen.off.get(ofShop(shop))!) {
        expectAnswered(answered);
        const { request, server, spans } = answered;
        const { title } = request;
        expect({ title, server: nameAndRoute(server), spans: spans.length }).toEqual({
          title,
          server: expectedOf(request),
          spans: 1,
        });
      }
    },
  );

  it('I13: the metric of request durations has these routes, and no others', () => {
    expect(new Set(seen.routes.on)).toEqual(routesOf(shops));
    expect(new Set(seen.routes.off)).toEqual(routesOf(notIntercepted));
  });

  it('the process says nothing meanwhile', () => {
    expect(seen.output).toBe('');
  });
});

describe("with the routers' own instrumentations", () => {
  let seen: Map<string, AnsweredRequest[]>;
  beforeAll(async () => {
    const program = await startShops('orders', { ROUTER_INSTRUMENTATIONS: 'true', INTERCEPTED: 'never' });
    try {
      seen = await answersOf(program, notIntercepted);
    } finally {
      await program.stop();
    }
  });

  it.each(notIntercepted)(`I13: the server span has the same full route: ${title}`, (shop) => {
    for (const answered of seen.get(ofShop(shop))!) {
      expectAnswered(answered);
      const { request, server, spans } = answered;
      const { title, route } = request;
      // They name what has no route as well, and `@fastify/otel` takes an inner request for the outer one.
      if (route === undefined || route.endsWith('/calls')) continue;
      const ofRouter = spans.filter(({ attributes: of }) => of['express.type'] ?? of['fastify.type']);
      expect({ title, hasRouterSpans: ofRouter.length > 0 }).toEqual({ title, hasRouterSpans: true });
      expect({ title, server: nameAndRoute(server) }).toEqual({ title, server: expectedOf(request) });
    }
  });
});
