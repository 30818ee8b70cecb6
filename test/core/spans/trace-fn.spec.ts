import { beforeEach, describe, expect, it, vi } from 'vitest';
import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import 'reflect-metadata';
import { setEnabledSpanGroups, setSpanGroupSpec, SpanRegistry, traceFn } from 'nest-lens/core';
import { beginPreview } from '../../../src/core/groups/span-preview.js';
import {
  captureSpans,
  type CapturedSpans,
  exceptions,
  parentId,
  spanId,
} from '../../support/capture-spans.js';
import { captureWarnings } from '../../support/capture-warnings.js';
import { setUpForTest } from '../../support/live-telemetry.js';

let spans: CapturedSpans;
beforeEach(() => {
  captureWarnings();
  spans = captureSpans();
});

const on = (): void => setEnabledSpanGroups(['orders']);
const off = (): void => setEnabledSpanGroups([]);
const traced = traceFn('orders', 'orders.work');

describe('traceFn', () => {
  it('I4: the gate is asked at each call, not when the function is wrapped', () => {
    const work = traced(() => 'result');
    expect(work()).toBe('result');
    on();
    expect(work()).toBe('result');
    off();
    expect(work()).toBe('result');
    on();
    expect(work()).toBe('result');
    expect(spans.names()).toEqual(['orders.work', 'orders.work']);
    expect(spans.openCount()).toBe(0);
  });

  it('I4: a function wrapped before its group is registered works from then on', () => {
    const work = traceFn('late', 'late.work')(() => 1);
    setSpanGroupSpec('late');
    work();
    SpanRegistry.register('shop', ['late']);
    work();
    SpanRegistry.unregister('shop');
    work();
    expect(spans.names()).toEqual(['late.work']);
  });

  it('I1: on, one span with name, group, attributes and kind', () => {
    on();
    const work = traceFn('orders', 'priced', { attributes: { a: 1 }, kind: SpanKind.CLIENT })(() => 1);
    work();
    work();
    for (const span of spans.all()) {
      expect([span.name, span.kind, span.attributes, span.status.code]).toEqual([
        'priced',
        SpanKind.CLIENT,
        { a: 1, 'nestlens.group': 'orders' },
        SpanStatusCode.UNSET,
      ]);
    }
    expect(spans.all()).toHaveLength(2);
  });

  it('I3: an attributes function runs for each call while on, and never while off', () => {
    let calls = 0;
    const attributes = vi.fn(() => ({ call: ++calls }));
    const work = traceFn('orders', 'work', { attributes })(() => 1);
    work();
    expect(attributes).not.toHaveBeenCalled();
    on();
    work();
    work();
    expect(spans.all().map((span) => span.attributes.call)).toEqual([1, 2]);
  });

  it('I4: options without such a function are read at the first call that is on, and never again', () => {
    const read = vi.fn(() => ({ 'order.id': 7 }));
    const work = traceFn('orders', 'orders.read', {
      get attributes() {
        return read();
      },
    })(() => 1);
    work();
    expect(read).not.toHaveBeenCalled();
    on();
    work();
    const reads = read.mock.calls.length;
    work();
    expect(read).toHaveBeenCalledTimes(reads);
    expect(spans.all().map(({ attributes }) => attributes['order.id'])).toEqual([7, 7]);
  });

  it('I4: options that cannot be read are read once, and cost the attributes', () => {
    const read = vi.fn(() => {
      throw new Error('no attributes');
    });
    const work = traceFn(
      'orders',
      'orders.unread',
      Object.defineProperty({}, 'attributes', { get: read }),
    )(() => 1);
    on();
    expect(work()).toBe(1);
    const reads = read.mock.calls.length;
    expect(work()).toBe(1);
    expect(read).toHaveBeenCalledTimes(reads);
    expect(spans.names()).toEqual(['orders.unread', 'orders.unread']);
  });

  it.each([undefined, null, 7, {}])(
    'I4: a group that is not a string, %s, is refused where it is named',
    (group) => {
      expect(() => traceFn(group as never, 'orders.work')).toThrow(/^traceFn: group must be a string/);
    },
  );

  it('I4: behind a gate that is only held open a call is counted, and goes to the function', () => {
    const preview = beginPreview(['orders'])!;
    const original = vi.fn(function (this: unknown, ...args: unknown[]) {
      return [this, ...args];
    });
    const receiver = { shop: 1 };
    expect(traced(original).call(receiver, 1, 2)).toEqual([receiver, 1, 2]);
    preview.end();
    expect(spans.names()).toEqual([]);
    expect([...preview.counts.get('orders')!]).toEqual([['orders.work', 1]]);
  });

  it('I4: a group that nobody registers is named in one warning after the set-up', async () => {
    const warnings = captureWarnings();
    SpanRegistry.register('shop', ['orders']);
    await setUpForTest({ spanGroups: 'orders' });
    for (const group of ['orders', 'order', 'order']) traceFn(group, 'orders.late');
    await Promise.resolve();
    expect(warnings.codes()).toEqual(['UNKNOWN_GROUP_AT_SITE']);
    expect(warnings.single('UNKNOWN_GROUP_AT_SITE').message).toContain("traceFn 'orders.late'");
  });

  it('I1: off, no span and no tracer asked for', () => {
    const original = vi.fn((a: number, b: number) => a + b);
    expect(traced(original)(1, 2)).toBe(3);
    expect(original.mock.calls).toEqual([[1, 2]]);
    expect([spans.startedCount(), spans.tracerLookups()]).toEqual([0, 0]);
  });

  const states: [string, () => void][] = [
    ['on', on],
    ['off', off],
  ];

  it.each(states)('I4: %s, arguments and this arrive as they were given', (_state, set) => {
    set();
    const seen: unknown[] = [];
    const work = traced(function (this: unknown, ...args: unknown[]) {
      seen.push(this, args);
      return args.length;
    });
    const receiver = {};
    expect(work.call(receiver, 1, undefined, 3)).toBe(3);
    expect(seen).toEqual([receiver, [1, undefined, 3]]);
    expect(seen[0]).toBe(receiver);
    expect(work.call(undefined)).toBe(0);
  });

  it.each(states)('I4: %s, a method keeps its object, by call, by bind, and through super', (_state, set) => {
    set();
    class Base {
      constructor(readonly x: number) {}
      value(): number {
        return this.x;
      }
    }
    Base.prototype.value = traced(Base.prototype.value);
    class Sub extends Base {
      override value(): number {
        return super.value() + 1;
      }
    }
    expect(new Base(1).value()).toBe(1);
    expect(new Sub(1).value()).toBe(2);
    expect(Base.prototype.value.call(new Base(5))).toBe(5);
    expect(new Base(7).value.bind(new Base(9))()).toBe(9);
    expect(spans.all()).toHaveLength(_state === 'on' ? 4 : 0);
  });

  it.each([
    [0, () => 1],
    [1, (_a: unknown) => 1],
    [2, (_a: unknown, _b: unknown) => 1],
    [4, (_error: unknown, _request: unknown, _response: unknown, _next: unknown) => 1],
    [1, (_a: unknown, ..._rest: unknown[]) => 1],
  ])('I4: keeps a length of %d', (length, fn) => {
    expect(traced(fn)).toHaveLength(length);
  });

  it('I4: keeps the name, own properties, symbols and their descriptors', () => {
    const symbol = Symbol('mark');
    const original = Object.assign(function listOrders() {}, { route: '/orders', [symbol]: 1 });
    Object.defineProperty(original, 'hidden', { value: 2, enumerable: false, configurable: true });
    const work = traced(original);
    expect(work.name).toBe('listOrders');
    expect(work.route).toBe('/orders');
    expect(work[symbol]).toBe(1);
    expect(Object.getOwnPropertyDescriptor(work, 'hidden')).toEqual(
      Object.getOwnPropertyDescriptor(original, 'hidden'),
    );
    expect(Object.keys(work)).toEqual(Object.keys(original));
    expect(traced(() => 1).name).toBe('');
  });

  it('I4: keeps metadata', () => {
    const original = (): number => 1;
    const value = { role: 'admin' };
    Reflect.defineMetadata('roles', value, original);
    Reflect.defineMetadata(Symbol.for('key'), 1, original);
    const work = traced(original);
    expect(Reflect.getMetadata('roles', work)).toBe(value);
    expect(Reflect.getMetadataKeys(work)).toEqual(Reflect.getMetadataKeys(original));
  });

  it('I4: sync stays sync: the value itself, a synchronous throw, the span ended before the next line', () => {
    on();
    const value = { id: 1 };
    expect(traced(() => value)()).toBe(value);
    expect(spans.openCount()).toBe(0);
    const error = new Error('now');
    const throws = traced(() => {
      throw error;
    });
    expect(throws).toThrow(error);
    expect(spans.all().map((span) => span.status.code)).toEqual([SpanStatusCode.UNSET, SpanStatusCode.ERROR]);
    expect(exceptions(spans.all()[1]!)).toHaveLength(1);
  });

  it('I9: an async function is covered until its promise settles', async () => {
    on();
    let finish: (value: string) => void = () => undefined;
    const gate = new Promise<string>((resolve) => (finish = resolve));
    const promise = traced(async () => {
      const value = await gate;
      expect(trace.getActiveSpan()).toBeDefined();
      return value;
    })();
    expect([spans.openCount(), trace.getActiveSpan()]).toEqual([1, undefined]);
    finish('done');
    expect(await promise).toBe('done');
    expect([spans.names(), spans.openCount()]).toEqual([['orders.work'], 0]);
    const error = new Error('later');
    await expect(traced(async () => Promise.reject(error))()).rejects.toBe(error);
    expect(spans.all()[1]!.status).toEqual({ code: SpanStatusCode.ERROR, message: 'later' });
  });

  it('I9: an async generator function is covered until it is exhausted', async () => {
    on();
    const work = traced(async function* () {
      yield 1;
      yield 2;
    });
    const seen: number[] = [];
    for await (const value of work()) {
      seen.push(value);
      expect(spans.openCount()).toBe(1);
    }
    expect([seen, spans.names(), spans.openCount()]).toEqual([[1, 2], ['orders.work'], 0]);
  });

  it('I1: recursion nests', () => {
    on();
    const countDown: (n: number) => number = traced((n: number): number => (n === 0 ? 0 : countDown(n - 1)));
    countDown(2);
    const [innermost, middle, outermost] = spans.all();
    expect([parentId(innermost!), parentId(middle!), parentId(outermost!)]).toEqual([
      spanId(middle!),
      spanId(outermost!),
      undefined,
    ]);
  });

  it('I4: one traceFn wraps several functions, and wrapping leaves the original alone', () => {
    on();
    const original = (): number => 1;
    const [a, b] = [traced(original), traced(() => 2)];
    expect([original(), a(), b()]).toEqual([1, 1, 2]);
    expect(spans.all()).toHaveLength(2);
  });
});
