import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { SpanStatusCode } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { type NestLensConfig, overrideSpanGroups, signSpanGroups } from 'nest-lens';
import { DEMO_REQUESTS } from '../../sample-app/src/demo/demo-requests.js';
import { spanTree } from '../../sample-app/src/demo/span-tree.js';
import { readPage } from '../docs/documentation.js';
import { guardEachTest, namesOf, parentIdOf, setEnv, theSpan, until } from '../support/lens-app.js';
import { KeptPostgres, RunningShop } from './running-shop.js';

// Postgres takes seconds to start.
vi.setConfig({ testTimeout: 60_000 });

const EVERYTHING = 'per_request,db_query';

let postgres: KeptPostgres;
let shop: RunningShop | undefined;

/** The shop as it ships, on the Postgres that all of them use, as empty as a new one. */
async function startShop(config: Partial<NestLensConfig> = {}): Promise<RunningShop> {
  shop = await RunningShop.start(config);
  return shop;
}

/** The lines of a drawn trace, without durations and columns: branch, name, group. */
const withoutTimes = (lines: readonly string[]): string[] =>
  lines.map((line) => line.replace(/ +\d+\.\d ms/, '').replace(/(?<=\S) {2,}/, '  '));

/** The pictures of a trace in README.md and docs/concepts.md: the setting, and the lines below it. */
const pictures = ['README.md', 'docs/concepts.md'].flatMap((path) =>
  readPage(path)
    .blocks('text')[0]!
    .split('\n\n')
    .map((picture): [setting: string, lines: string[]] => {
      const [setting, ...lines] = picture.split('\n').map((line) => line.replace(/^ {2}/, ''));
      return [setting!, lines[0]!.startsWith('no span at all') ? [] : withoutTimes(lines)];
    }),
);

/** Pairs `child < parent` of span names; a root is only its name. */
function edges(spans: readonly ReadableSpan[]): string[] {
  const nameOf = new Map(spans.map((span) => [span.spanContext().spanId, span.name]));
  return spans
    .map((span) => {
      const parent = parentIdOf(span);
      return parent === undefined ? span.name : `${span.name} < ${nameOf.get(parent) ?? 'never exported'}`;
    })
    .sort();
}

describe('the sample shop', () => {
  guardEachTest();
  beforeAll(async () => {
    postgres = await KeptPostgres.start();
  }, 60_000);
  afterEach(async () => {
    await shop?.close();
    shop = undefined;
  });
  afterAll(() => postgres.stop());

  it('lists products, reads one, and answers 404 for an unknown and 400 for a malformed number', async () => {
    const { http } = await startShop({ enabled: false });

    const list = await http.get('/products').expect(200);
    expect(list.body).toContainEqual({ id: 1, name: 'Teapot', price: '€24.90', available: true });
    const read = await http.get('/products/3').expect(200);
    expect(read.body).toEqual({ id: 3, name: 'Copper kettle', price: '€49.00', available: true });
    await http.get('/products/999').expect(404);
    await http.get('/products/teapot').expect(400);
  });

  it.each(['2147483648', '99999999999', '-99999999999', '9'.repeat(40)])(
    'answers 400 for %s, which no row can have, and not 500',
    async (id) => {
      const { http } = await startShop({ enabled: false });

      for (const path of [`/products/${id}`, `/orders/${id}`, `/orders/${id}/status`]) {
        await http.get(path).expect(400);
      }
      await http.get('/products/2147483647').expect(404);
    },
  );

  it('takes an order from the stock, the payment and the order in one transaction, and reads it back', async () => {
    const running = await startShop({ enabled: false });

    const placed = await running
      .order([
        { productId: 1, quantity: 1 },
        { productId: 2, quantity: 2 },
      ])
      .expect(201);

    // 24.90 + 2 * 6.90, and 4.90 for the delivery.
    expect(placed.body).toEqual({ id: 1, status: 'paid', totalCents: 4_360 });
    expect([await running.stockOf(1), await running.stockOf(2)]).toEqual([39, 198]);
    expect(await running.query('select amount_cents from payments')).toEqual([{ amount_cents: 4_360 }]);
    expect(await running.query('select product_id, quantity from order_lines order by product_id')).toEqual([
      { product_id: 1, quantity: 1 },
      { product_id: 2, quantity: 2 },
    ]);
    await running.http.get('/orders/1').expect(200, placed.body as object);
    await running.http.get('/orders/2').expect(404);
  });

  it('I1: traces one order in full that brings a signed header, and the others as ever', async () => {
    setEnv({ NEST_LENS_SIGNING_KEY: 'k'.repeat(32) });
    const running = await startShop({ spanGroups: '-all' });
    const header = signSpanGroups('checkout', { key: 'k'.repeat(32) });
    const lines = [{ productId: 1, quantity: 1 }];
    await running.order(lines).expect(201);
    await running.order(lines).set('x-lens-groups', header).expect(201);
    await running.order(lines).expect(201);
    expect(edges(await running.close())).toEqual([
      'orders.place',
      'payments.charge < orders.place',
      'stock.reserve < orders.place',
    ]);
  });

  it('refuses an order without enough stock with 409 and a declined card with 402, and rolls all of it back', async () => {
    const running = await startShop({ spanGroups: 'checkout' });

    await running
      .order([
        { productId: 1, quantity: 1 },
        { productId: 3, quantity: 2 },
      ])
      .expect(409);
    await running.order([{ productId: 1, quantity: 1 }], '4242424242424243').expect(402);
    await running.order([]).expect(400);

    expect([await running.stockOf(1), await running.stockOf(3)]).toEqual([40, 1]);
    expect(await running.query('select id from payments union all select id from orders')).toEqual([]);

    const spans = await running.close();
    expect(edges(spans)).toEqual([
      'orders.place',
      'orders.place',
      'payments.charge < orders.place',
      'stock.reserve < orders.place',
      'stock.reserve < orders.place',
    ]);
    // I12: a refusal below 500 is an answer, in the handler and in the service that threw it. It is recorded all the same.
    for (const { status } of spans) expect(status.code).toBe(SpanStatusCode.UNSET);
    expect(theSpan(spans, 'payments.charge').events.map(({ attributes }) => attributes)).toEqual([
      expect.objectContaining({ 'exception.message': 'The card was declined' }),
    ]);
  });

  it('I9: streams the status of an order to its end, with one span over the whole stream', async () => {
    const running = await startShop({ spanGroups: EVERYTHING });
    await running.order([{ productId: 1, quantity: 1 }]).expect(201);

    const stream = await running.http.get('/orders/1/status').expect(200);
    expect(stream.headers['content-type']).toContain('text/event-stream');
    const events = [...stream.text.matchAll(/^data: (.*)$/gm)].map(
      ([, data]) => JSON.parse(data!) as unknown,
    );
    expect(events).toEqual([
      { id: 1, status: 'paid' },
      { id: 1, status: 'packed' },
      { id: 1, status: 'shipped' },
    ]);
    await running.http.get('/orders/7/status').expect(404);

    const spans = await running.close();
    const [found, missing] = spans.filter(({ name }) => name === 'orders.status');
    expect(missing!.status.code).toBe(SpanStatusCode.UNSET);
    expect(
      spans.filter((span) => parentIdOf(span) === found!.spanContext().spanId).map(({ name }) => name),
    ).toEqual(['SELECT order', 'SELECT order status', 'UPDATE order status', 'UPDATE order status']);
    expect(found!.attributes).not.toHaveProperty('nestlens.cancelled');
  });

  it('I9: a client that leaves the stream ends its span as cancelled, not as an error', async () => {
    const running = await startShop({ spanGroups: 'order_status' });
    await running.order([{ productId: 1, quantity: 1 }]).expect(201);

    const stream = await new Promise<IncomingMessage>((resolve) => {
      get(`${running.url}/orders/1/status`, { agent: false }, resolve);
    });
    await once(stream, 'data');
    stream.destroy();
    expect(await until(() => running.inFlight().length === 0)).toBe(true);

    const span = theSpan(await running.close(), 'orders.status');
    expect(span.attributes['nestlens.cancelled']).toBe(true);
    expect(span.status.code).toBe(SpanStatusCode.UNSET);
  });

  it('I12: the failing report is answered with 500, and it and its query are errors', async () => {
    const running = await startShop({ spanGroups: EVERYTHING });
    await running.http.get('/reports/revenue').expect(500);

    const spans = await running.close();
    expect(edges(spans)).toEqual(['SELECT revenue < reports.revenue', 'reports.revenue']);
    for (const { status } of spans) {
      expect(status).toEqual({
        code: SpanStatusCode.ERROR,
        message: 'relation "monthly_revenue" does not exist',
      });
    }
  });

  it('I11: default and per_request,db_query choose what the same order emits, and off emits nothing', async () => {
    const placeOrder = async (config: Partial<NestLensConfig>): Promise<readonly ReadableSpan[]> => {
      const running = await startShop(config);
      await running.order([{ productId: 1, quantity: 1 }]).expect(201);
      return running.close();
    };

    expect(edges(await placeOrder({ spanGroups: 'default' }))).toEqual([
      'orders.place',
      'payments.charge < orders.place',
    ]);
    const detailed = await placeOrder({ spanGroups: EVERYTHING });
    expect(edges(detailed)).toEqual([
      'INSERT order_lines < place order',
      'INSERT orders < place order',
      'INSERT payments < payments.charge',
      'UPDATE products < stock.reserve',
      'card_network.authorise < payments.charge',
      'orders.place',
      'payments.charge < place order',
      'place order < orders.place',
      'pricing.total < place order',
      'stock.reserve < place order',
    ]);
    expect(theSpan(detailed, 'orders.place').attributes).toMatchObject({
      'nestlens.group': 'order',
      'nestjs.controller': 'OrdersController',
      'nestjs.callback': 'place',
      'order.lines': 1,
    });
    expect(JSON.stringify(detailed.map(({ attributes }) => attributes))).not.toContain('4242');
    expect(await placeOrder({ spanGroups: EVERYTHING, enabled: false })).toEqual([]);
  });

  it.each(pictures)('T7, I11: with %s one order makes the spans of the picture', async (setting, shown) => {
    const [variable, value] = setting.split('=') as [string, string];
    const running = await startShop(
      variable === 'NEST_LENS_SPAN_GROUPS' ? { spanGroups: value } : { enabled: value === 'true' },
    );
    const { body } = DEMO_REQUESTS.find(({ method }) => method === 'POST')!;
    await running.http
      .post('/orders')
      .send(body as object)
      .expect(201);
    await running.close();
    const spans = running.startedInOrder;
    expect(spans.length === 0 ? [] : withoutTimes(spanTree(spans, spans[0]!))).toEqual(shown);
  });

  it('T7: each spec in its README gives one order as many spans as the README says', async () => {
    const readme = await readFile(new URL('../../sample-app/README.md', import.meta.url), 'utf8');
    const rows = [...readme.matchAll(/^\| `([^`]+)`\s*\|\s*(\d+) \|/gm)].map(([, spec, count]) => [
      spec,
      Number(count),
    ]);
    expect(rows).toContainEqual(['per_request,db_query', 10]);

    const running = await startShop();
    const counted: [string, number][] = [];
    for (const [spec] of rows as [string, number][]) {
      overrideSpanGroups(spec);
      const before = running.startedSpans;
      await running.order([{ productId: 1, quantity: 1 }]).expect(201);
      counted.push([spec, running.startedSpans - before]);
    }
    expect(counted).toEqual(rows);
  });

  it('I11: of 50 concurrent orders every span has an exported parent or is a root, none stays open, the stock is right', async () => {
    const running = await startShop({ spanGroups: EVERYTHING });

    const answers = await Promise.all(
      Array.from({ length: 50 }, () => running.order([{ productId: 1, quantity: 1 }])),
    );

    // There were 40 teapots.
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array<number>(40).fill(201), ...Array<number>(10).fill(409)]);
    const ids = answers.filter(({ status }) => status === 201).map(({ body }) => (body as { id: number }).id);
    expect(new Set(ids).size).toBe(40);
    expect(running.inFlight()).toEqual([]);
    const started = running.startedSpans;

    expect(await running.stockOf(1)).toBe(0);
    expect(await running.query('select count(*)::int as orders from orders')).toEqual([{ orders: 40 }]);

    // The two queries of the lines above are spans as well.
    const spans = (await running.close()).filter(({ name }) => name !== 'test');
    expect(spans).toHaveLength(started);
    expect(edges(spans).filter((edge) => edge.endsWith('never exported'))).toEqual([]);
    const traceIds = new Set(spans.map((span) => span.spanContext().traceId));
    expect(traceIds.size).toBe(50);
    const counts = [...traceIds].map(
      (traceId) => spans.filter((span) => span.spanContext().traceId === traceId).length,
    );
    // Ten spans in the trace of an order, and four in that of one that was refused.
    expect(counts.sort((a, b) => a - b)).toEqual([
      ...Array<number>(10).fill(4),
      ...Array<number>(40).fill(10),
    ]);
    expect(namesOf(spans.filter((span) => parentIdOf(span) === undefined))).toEqual(
      Array<string>(50).fill('orders.place'),
    );
  });

  it('R6, R9, R12: /lens/groups shows the shared group, the borrowing preset, and presets joined over namespaces', async () => {
    const running = await startShop({ spanGroups: 'checkout,per_request' });
    const { body } = await running.http.get('/lens/groups').expect(200);

    expect(body).toMatchObject({
      namespaces: ['catalog', 'db', 'instrumentation', 'orders', 'payments'],
      presets: {
        checkout: ['order', 'payment', 'stock'],
        default: ['order', 'payment', 'report'],
        per_request: [
          'card_network',
          'catalog',
          'db_transaction',
          'order',
          'order_status',
          'payment',
          'pricing',
          'report',
          'stock',
        ],
      },
      pending: [],
      warnings: [],
    });
    const groups = new Map(
      (body as { groups: { name: string }[] }).groups.map((group) => [group.name, group]),
    );
    expect(groups.get('pricing')).toMatchObject({
      enabled: true,
      namespaces: ['catalog', 'orders'],
      because: ['per_request'],
    });
    expect(groups.get('stock')).toMatchObject({
      namespaces: ['catalog'],
      presets: ['checkout', 'per_request'],
      because: ['checkout', 'per_request'],
    });
    expect(groups.get('db_query')).toMatchObject({ enabled: false, presets: [], because: [] });
    // The collision and the borrowed members are meant: starting and closing say nothing.
    const { stops } = postgres;
    await running.close();
    expect(running.warnings).toEqual([]);
    expect(postgres.stops).toBe(stops + 1);
  });
});
