import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { context, trace } from '@opentelemetry/api';
import {
  isSpanGroupEnabled,
  managedSpan,
  setEnabledSpanGroups,
  setSpanGroupSpec,
  SpanRegistry,
  traceFn,
} from 'nest-lens/core';
import { captureSpans, type CapturedSpans } from './capture-spans.js';

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
    const attributes = jest.fn(() => ({}));
    const getTracerProvider = jest.spyOn(trace, 'getTracerProvider');
    const getTracer = jest.spyOn(trace, 'getTracer');
    run(attributes, () => 1);
    expect(attributes).not.toHaveBeenCalled();
    expect([getTracerProvider.mock.calls.length, getTracer.mock.calls.length]).toEqual([0, 0]);
    expect([spans.tracerLookups(), spans.startedCount()]).toEqual([0, 0]);
    getTracerProvider.mockRestore();
    getTracer.mockRestore();
  });

  it.each(sites)('I1: %s enters no context and reads none', (_site, run) => {
    const enter = jest.spyOn(context, 'with');
    const active = jest.spyOn(context, 'active');
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
    const attributes = jest.fn(() => ({}));
    const enter = jest.spyOn(context, 'with');
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
});
