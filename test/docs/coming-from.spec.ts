import { beforeEach, describe, expect, it } from 'vitest';
import { trace } from '@opentelemetry/api';
import {
  managedSpan,
  nestLensConfigFromEnv,
  type SetupOptions,
  setupTelemetry,
  SpanRegistry,
  type TelemetryHandle,
} from 'nest-lens';
import { type CapturedSpan, captureSpans } from 'nest-lens/testing';
import { quoted, readPage } from './documentation.js';
import { aroundSnippets, codes, importAnew } from './running-snippets.js';
import { names, plain, spansOf, tree } from './span-tree.js';
import * as after from './snippets/coming-from-api-after.js';

// The guides whose packages are development dependencies. `compat/consumers/coming-from` runs the others.

type Orders = Pick<typeof after, 'place'>;

/** Anew: the tracer of a module stays with the provider that it has found first. */
const before = (): Promise<Orders> => importAnew('coming-from-api-before');

/** What a span says that both ways of making it should say alike. */
const said = ({ name, attributes, status, events, kind }: CapturedSpan) => {
  const { 'nestlens.group': _group, ...own } = attributes as Record<string, unknown>;
  return { name, kind, own, status, events: events.map((event) => event.name) };
};

/** A set-up with this environment, every span caught. */
async function setUp(env: Record<string, string>, options: SetupOptions = {}) {
  const captured = captureSpans();
  const config = { ...nestLensConfigFromEnv({ env }), enabled: true, metricsEnabled: false };
  const handle = await setupTelemetry(config, { ...options, spanProcessors: [captured.spanProcessor] });
  return { captured, handle };
}

describe('docs/coming-from/opentelemetry-api.md', () => {
  aroundSnippets();
  let handle: TelemetryHandle | undefined;
  const close = async (): Promise<void> => handle?.shutdown(1_000);

  /** The spans of an order that is placed, and of one that fails. */
  async function ordersOf(
    { place }: { place(product: string): Promise<unknown> },
    spec: string,
    options = {},
  ) {
    const up = await setUp({ NEST_LENS_SPAN_GROUPS: spec }, options);
    handle = up.handle;
    expect(await place('tea')).toEqual({ product: 'tea', left: 41 });
    await expect(place('coffee')).rejects.toThrow('sold out');
    const spans = await spansOf(up.captured);
    await close();
    return spans;
  }

  beforeEach(() => after.shop.register());

  it('H1, I9: after the steps spans have the same names, parents, attributes, statuses and events', async () => {
    const old = await ordersOf(await before(), 'all');
    const now = await ordersOf(after, 'all');
    expect(old).toHaveLength(4);
    expect(now.map(said)).toEqual(old.map(said));
    expect(tree(now.map(plain))).toBe(tree(old.map(plain)));
    expect(codes()).toEqual([]);
  });

  it('S3: after the steps one variable takes spans away and brings them back', async () => {
    expect(names(await ordersOf(after, 'default'))).toEqual(['orders.place', 'orders.place']);
    expect(names(await ordersOf(after, 'all,-orders'))).toEqual(['stock.take', 'stock.take']);
  });

  it('before the code is changed, the tracer is a group', async () => {
    SpanRegistry.clear();
    const options = { instrumentationGroups: true };
    expect(await ordersOf(await before(), 'shop', options)).toHaveLength(4);
    expect(await ordersOf(await before(), 'all,-shop', options)).toEqual([]);
  });

  it('side by side, spans of either way are children of the other', async () => {
    const up = await setUp({ NEST_LENS_SPAN_GROUPS: 'all' });
    await managedSpan('orders', 'outer', async () => (await before()).place('tea'));
    await trace.getTracer('shop').startActiveSpan('by hand', async (span) => {
      await after.place('tea');
      span.end();
    });
    const spans = (await spansOf(up.captured)).map(plain);
    const below = (outer: string): string => `${outer}\n  orders.place\n    stock.take`;
    expect(tree(spans)).toBe(`${below('outer')}\n${below('by hand')}`);
    await up.handle.shutdown(1_000);
  });
});

describe('docs/coming-from/python.md', () => {
  aroundSnippets();
  const page = readPage('docs/coming-from/python.md');

  it.each(page.table('`NEMO_LENS_SPAN_GROUPS`', 'Selects, in Python and in Node', 'Pending'))(
    'S1, S3, S6: %s selects what the table says',
    async (spec, selected, pending) => {
      await importAnew('coming-from-python');
      const { spanGroups } = nestLensConfigFromEnv({ env: { NEMO_LENS_SPAN_GROUPS: quoted(spec)[0]! } });
      const { enabled, pending: unknown } = SpanRegistry.resolve(spanGroups);
      expect([...enabled].sort()).toEqual(quoted(selected));
      expect([...unknown].sort()).toEqual(quoted(pending));
    },
  );

  it('I9: the sites make the spans of the groups that the variable of Python selects', async () => {
    const { trainStep } = await importAnew('coming-from-python');
    for (const [spec, expected] of [
      ['per_step', ['dl.forward_backward', 'train.step']],
      ['default', ['train.step']],
    ] as const) {
      const { captured, handle } = await setUp({ NEMO_LENS_SPAN_GROUPS: spec });
      expect(trainStep(7, [1, 2])).toBe(2);
      const spans = await spansOf(captured);
      expect(names(spans)).toEqual(expected);
      expect(spans.at(-1)!.attributes).toMatchObject({ 'dl.iteration': 7 });
      await handle.shutdown(1_000);
    }
  });
});
