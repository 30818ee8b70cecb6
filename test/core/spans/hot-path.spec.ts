import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { ExecutionContext } from '@nestjs/common';
import { context, trace } from '@opentelemetry/api';
import { SpanGroup, SpanGroupInterceptor } from 'nest-lens';
import {
  isSpanGroupEnabled,
  managedSpan,
  setEnabledSpanGroups,
  setSpanGroupSpec,
  SpanRegistry,
  traceFn,
} from 'nest-lens/core';
import { of } from 'rxjs';
import { captureSpans, type CapturedSpans } from '../../support/capture-spans.js';

/** What a site does while its group is off: nothing that can be observed. */
describe('a site whose group is off', () => {
  let spans: CapturedSpans;
  beforeEach(() => {
    spans = captureSpans();
    SpanRegistry.register('shop', ['orders', 'cache']);
    setSpanGroupSpec('cache');
  });

  const sites: [string, (attributes: () => object, body: () => unknown) => unknown][] = [
    [
      'managedSpan',
      (attributes, body) => managedSpan('orders', 'work', { attributes: attributes as never }, body),
    ],
    ['traceFn', (attributes, body) => traceFn('orders', 'work', { attributes: attributes as never })(body)()],
    [
      '@SpanGroup',
      (attributes, body) => {
        class Orders {
          @SpanGroup('orders', { name: 'work', attributes: attributes as never })
          work() {
            return body();
          }
        }
        return new Orders().work();
      },
    ],
  ];

  it.each(sites)('I1: %s hands back the very same promise', (_site, run) => {
    const promise = Promise.resolve(1);
    expect(
      run(
        () => ({}),
        () => promise,
      ),
    ).toBe(promise);
  });

  it.each(sites)('I1: %s hands back the very same object, generator and error', (_site, run) => {
    for (const result of [{}, (async function* () {})(), { subscribe: () => 1, lift: () => 1 }]) {
      expect(
        run(
          () => ({}),
          () => result,
        ),
      ).toBe(result);
    }
    const error = new Error('as it is');
    expect(() =>
      run(
        () => ({}),
        () => {
          throw error;
        },
      ),
    ).toThrow(error);
  });

  it.each(sites)('I3: %s asks for no tracer and runs no attribute callback', (_site, run) => {
    const attributes = vi.fn(() => ({}));
    const getTracerProvider = vi.spyOn(trace, 'getTracerProvider');
    const getTracer = vi.spyOn(trace, 'getTracer');
    run(attributes, () => 1);
    expect(attributes).not.toHaveBeenCalled();
    expect([getTracerProvider.mock.calls.length, getTracer.mock.calls.length]).toEqual([0, 0]);
    expect([spans.tracerLookups(), spans.startedCount()]).toEqual([0, 0]);
    getTracerProvider.mockRestore();
    getTracer.mockRestore();
  });

  it.each(sites)('I1: %s enters no context and reads none', (_site, run) => {
    const enter = vi.spyOn(context, 'with');
    const active = vi.spyOn(context, 'active');
    run(
      () => ({}),
      () => 1,
    );
    expect([enter.mock.calls.length, active.mock.calls.length]).toEqual([0, 0]);
    enter.mockRestore();
    active.mockRestore();
  });

  it.each(sites)('I1: %s, on, does ask: the same probes see it', (_site, run) => {
    setSpanGroupSpec('orders');
    const attributes = vi.fn(() => ({}));
    const enter = vi.spyOn(context, 'with');
    run(attributes, () => 1);
    expect(attributes).toHaveBeenCalledTimes(1);
    expect(enter).toHaveBeenCalled();
    enter.mockRestore();
    expect(spans.names()).toEqual(['work']);
  });

  it.each(sites)('I4: %s stays synchronous', (_site, run) => {
    const order: string[] = [];
    run(
      () => ({}),
      () => order.push('body'),
    );
    order.push('after');
    expect(order).toEqual(['body', 'after']);
  });

  it('I4: a wrapped function looks like the original', () => {
    const mark = Symbol('mark');
    const original = Object.assign(
      function listOrders(this: unknown, _page: number, _size: number) {
        return this;
      },
      {
        own: 1,
        [mark]: 2,
      },
    );
    const wrapped = traceFn('orders', 'work')(original);
    expect([wrapped.name, wrapped.length, wrapped.own, wrapped[mark]]).toEqual(['listOrders', 2, 1, 2]);
    const receiver = {};
    expect(wrapped.call(receiver, 1, 2)).toBe(receiver);
  });

  it('T8: the gate answers for the very name, with no look at the spec', () => {
    const names = ['orders', 'cache', 'CACHE', ' cache', '', 'toString', '__proto__'];
    expect(names.map((name) => isSpanGroupEnabled(name))).toEqual([
      false,
      true,
      false,
      false,
      false,
      false,
      false,
    ]);
    setEnabledSpanGroups(['orders']);
    expect(names.map((name) => isSpanGroupEnabled(name))).toEqual([
      true,
      false,
      false,
      false,
      false,
      false,
      false,
    ]);
  });

  it('T3: switching a group on and off a thousand times leaves its sites right', () => {
    const work = traceFn('orders', 'work')(() => 1);
    for (let round = 0; round < 1_000; round++) {
      setSpanGroupSpec(round % 2 === 0 ? 'orders' : 'cache');
      work();
    }
    expect(spans.all()).toHaveLength(500);
  });

  /** How often metadata is asked for while something runs. */
  function countReads(run: () => void): number {
    const reads = (['getMetadata', 'getOwnMetadata', 'hasMetadata', 'hasOwnMetadata'] as const).map((name) =>
      vi.spyOn(Reflect, name),
    );
    run();
    const count = reads.reduce((sum, read) => sum + read.mock.calls.length, 0);
    for (const read of reads) read.mockRestore();
    return count;
  }

  it('N4: the metadata of a decorated method is read at its first call that is on, and never again', () => {
    class Orders {
      @SpanGroup('orders', { name: 'work' })
      work() {
        return 1;
      }
    }
    const orders = new Orders();
    const callTimes = (times: number) =>
      countReads(() => {
        for (let i = 0; i < times; i++) orders.work();
      });

    const whileOff = callTimes(10);
    setSpanGroupSpec('orders');
    const atFirst = callTimes(1);
    const later = callTimes(10);
    setSpanGroupSpec('cache');
    const whileOffAgain = callTimes(10);

    expect(atFirst).toBeGreaterThan(0);
    expect([whileOff, later, whileOffAgain]).toEqual([0, 0, 0]);
    expect(spans.names()).toHaveLength(11);
  });

  it('N6: the metadata of a handler is read at its first request that the interceptor sees, and never again', () => {
    class Orders {
      @SpanGroup('orders', { name: 'work' })
      work() {
        return 1;
      }
    }
    const interceptor = new SpanGroupInterceptor();
    const execution = {
      getHandler: () => Orders.prototype.work,
      getClass: () => Orders,
      getType: () => 'rpc',
      getArgs: () => [],
    } as unknown as ExecutionContext;
    const orders = new Orders();
    const requestTimes = (times: number) =>
      countReads(() => {
        for (let i = 0; i < times; i++) {
          interceptor.intercept(execution, { handle: () => of(orders.work()) }).subscribe();
        }
      });

    const atFirst = requestTimes(1);
    const whileOff = requestTimes(10);
    setSpanGroupSpec('orders');
    requestTimes(1);
    const whileOn = requestTimes(10);

    expect(atFirst).toBeGreaterThan(0);
    expect([whileOff, whileOn]).toEqual([0, 0]);
    expect(spans.names()).toEqual(Array.from({ length: 11 }, () => 'work'));
  });
});

describe('a site whose group is off, after having been on', () => {
  it('T8: allocates nothing, however it is written', async () => {
    const bytes = await countBytes();
    for (const [site, { off, on }] of Object.entries(bytes)) {
      expect([site, Math.round(off)]).toEqual([site, 0]);
      expect(on).toBeGreaterThan(100); // the same count sees the span
    }
    expect(Object.keys(bytes)).toEqual([
      'managedSpan',
      'traceFn',
      '@SpanGroup',
      'isSpanGroupEnabled, guarding',
    ]);
  }, 30_000);
});

/**
 * Bytes that a call allocates, counted in a process of its own on the built package: the instrumented code of a test runner
 * allocates by itself. The young generation has room for everything, so that no collection hides a part.
 */
async function countBytes(): Promise<Record<string, { off: number; on: number }>> {
  const script = `
    import { isSpanGroupEnabled, managedSpan, setSpanGroupSpec, SpanGroup, SpanRegistry, traceFn } from 'nest-lens';
    SpanRegistry.register('shop', ['orders']);
    const body = () => 1;
    class Orders { work() { return 1; } }
    const descriptor = Object.getOwnPropertyDescriptor(Orders.prototype, 'work');
    SpanGroup('orders')(Orders.prototype, 'work', descriptor);
    Object.defineProperty(Orders.prototype, 'work', descriptor);
    const orders = new Orders();
    const traced = traceFn('orders', 'work')(() => 1);
    const sites = {
      managedSpan: (n) => { for (let i = 0; i < n; i++) managedSpan('orders', 'work', body); },
      traceFn: (n) => { for (let i = 0; i < n; i++) traced(i); },
      '@SpanGroup': (n) => { for (let i = 0; i < n; i++) orders.work(i); },
      'isSpanGroupEnabled, guarding': (n) => {
        for (let i = 0; i < n; i++) if (isSpanGroupEnabled('orders')) managedSpan('orders', 'work', body);
      },
    };
    const CALLS = 5_000;
    const count = (call) => {
      for (let i = 0; i < 20; i++) call(CALLS);
      let fewest = Infinity; // V8 allocates for itself now and then
      for (let i = 0; i < 5; i++) {
        globalThis.gc();
        call(CALLS);
        const before = process.memoryUsage().heapUsed;
        call(CALLS);
        fewest = Math.min(fewest, (process.memoryUsage().heapUsed - before) / CALLS);
      }
      return fewest;
    };
    const bytes = {};
    for (const [name, call] of Object.entries(sites)) {
      setSpanGroupSpec('orders');
      const on = count(call);
      setSpanGroupSpec('');
      bytes[name] = { on, off: count(call) };
    }
    console.log(JSON.stringify(bytes));`;
  const room = ['--expose-gc', '--min-semi-space-size=64', '--max-semi-space-size=64'];
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [...room, '--input-type=module', '-e', script],
    { cwd: fileURLToPath(new URL('../../..', import.meta.url)) },
  );
  return JSON.parse(stdout) as Record<string, { off: number; on: number }>;
}
