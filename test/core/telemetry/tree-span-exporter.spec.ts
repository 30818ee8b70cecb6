import { afterEach, describe, expect, it, vi } from 'vitest';
import { managedSpan, SpanRegistry } from 'nest-lens/core';
import { TreeSpanExporter } from '../../../src/core/telemetry/tree-span-exporter.js';
import { createLensTestbed } from 'nest-lens/testing';
import { setUpForTest } from '../../support/live-telemetry.js';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** The spans of a piece of work, in the order in which they ended. */
async function spansOf(work: () => unknown): Promise<unknown[]> {
  await using testbed = await createLensTestbed({ definitions: [{ namespace: 'shop', groups: ['orders'] }] });
  await work();
  return testbed.spans();
}

function print(spans: unknown[], { coloured = false, attributes = false } = {}) {
  let text = '';
  const exporter = new TreeSpanExporter((part) => (text += part), coloured, attributes);
  exporter.export(spans, () => undefined);
  return {
    exporter,
    lines: () =>
      text
        .replace(/ +\d+\.\d ms/g, ' ms')
        .split('\n')
        .slice(0, -1),
  };
}

describe('exporter: tree', () => {
  afterEach(() => void vi.useRealTimers());

  it('prints a trace when its first span has ended, in the order of starts, with groups and errors', async () => {
    const spans = await spansOf(() =>
      managedSpan('orders', 'orders.place', { attributes: { 'order.id': 7 } }, () => {
        managedSpan('orders', 'orders.check', () => undefined);
        try {
          managedSpan('orders', 'orders.pay', () => {
            throw new Error('declined\u001b[2J\nby the bank');
          });
        } catch {
          // answered elsewhere
        }
      }),
    );
    expect(print(spans.slice(0, -1)).lines()).toEqual([]);
    expect(print(spans).lines()).toEqual([
      'orders.place ms   orders',
      '├─ orders.check ms   orders',
      '└─ orders.pay ms   orders  error: declined [2J by the bank',
    ]);
    expect(print(spans, { attributes: true }).lines()[1]).toBe('     order.id: 7');
    expect(print(spans, { coloured: true }).lines().join()).toContain('\u001b[31m  error');
  });

  it('folds what is alike', async () => {
    const spans = await spansOf(() =>
      managedSpan('orders', 'orders.list', () => {
        for (let row = 0; row < 50; row++) managedSpan('orders', 'row', () => undefined);
        managedSpan('orders', 'orders.done', () => undefined);
      }),
    );
    expect(print(spans).lines().slice(5)).toEqual([
      '├─ row ms   orders',
      '├─ 45 more row',
      '└─ orders.done ms   orders',
    ]);
  });

  it('prints what never finishes after a while, or at the shutdown, and says so', async () => {
    const spans = (
      await spansOf(() => managedSpan('orders', 'a', () => managedSpan('orders', 'b', () => undefined)))
    ).slice(0, 1);
    vi.useFakeTimers();
    const late = print(spans);
    vi.advanceTimersByTime(10_000);
    expect(late.lines()).toEqual([expect.stringMatching(/^trace \w{32}, not finished:$/), 'b ms   orders']);
    const closed = print(spans);
    await closed.exporter.shutdown();
    expect(closed.lines()).toHaveLength(2);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('that nobody lets write ends no process', async () => {
    const [inner] = await spansOf(() =>
      managedSpan('orders', 'a', () => managedSpan('orders', 'b', () => undefined)),
    );
    vi.useFakeTimers();
    const write = vi.fn(() => {
      throw new Error('closed');
    });
    new TreeSpanExporter(write, false, false).export([inner], () => undefined);
    vi.advanceTimersByTime(10_000);
    expect(write).toHaveBeenCalledTimes(1);
  });

  it('waits for a parent that ends after the first span, as the handlers of instrumentation-express do', async () => {
    const nested = () =>
      managedSpan('orders', 'handler', () => managedSpan('orders', 'query', () => undefined));
    const [query, handler, server] = await spansOf(() => managedSpan('orders', 'GET /orders', nested));
    vi.useFakeTimers();
    const { exporter, lines } = print([query, server]);
    expect(lines()).toEqual([]);
    exporter.export([handler], () => undefined);
    const whole = ['GET /orders ms   orders', '└─ handler ms   orders', '   └─ query ms   orders'];
    expect(lines()).toEqual(whole);
    expect(vi.getTimerCount()).toBe(0);

    const tooLate = print([query, server]);
    vi.advanceTimersByTime(300);
    expect(tooLate.lines().sort()).toEqual(['GET /orders ms   orders', 'query ms   orders']);
    tooLate.exporter.export([handler], () => undefined);
    vi.advanceTimersByTime(300);
    expect(tooLate.lines().slice(2)).toEqual([
      expect.stringMatching(/^trace \w{32}, what ended later:$/),
      'handler ms   orders',
    ]);
  });

  it('keeps no more than a bounded number of spans', () => {
    const waiting = Array.from({ length: 300 }, (_, number) => ({
      name: `span ${number}`,
      spanContext: () => ({ traceId: `t${number}`, spanId: `${number}` }),
      parentSpanContext: { spanId: 'elsewhere' },
      startTime: [0, 0],
      duration: [0, 0],
      status: { code: 0 },
      attributes: {},
    }));
    const { exporter, lines } = print(waiting);
    expect(lines()).toHaveLength(200);
    return exporter.shutdown();
  });

  it('tells what started first, though both started within a millisecond and the other one ended first', async () => {
    const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    try {
      SpanRegistry.register('shop', ['orders']);
      await setUpForTest({ exporter: 'tree' });
      await managedSpan('orders', 'all', async () => {
        const slow = managedSpan('orders', 'slow', turn);
        managedSpan('orders', 'fast', () => undefined);
        await slow;
      });
      expect(write.mock.calls.join()).toMatch(/all.*slow.*fast/s);
    } finally {
      write.mockRestore();
    }
  }, 30_000);

  it('C2: is what NEST_LENS_EXPORTER=tree sets up', async () => {
    const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    try {
      SpanRegistry.register('shop', ['orders']);
      const handle = await setUpForTest({ exporter: 'tree' });
      managedSpan('orders', 'orders.place', () => undefined);
      await turn();
      expect(write.mock.calls.join()).toContain('orders.place');
      expect(handle.isExporting).toBe(true);
    } finally {
      write.mockRestore();
    }
  }, 30_000);
});
