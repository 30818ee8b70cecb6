import { EventEmitter } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import {
  defineSpanGroups,
  enabledSpanGroups,
  isSpanGroupEnabled,
  managedSpan,
  overrideSpanGroups,
  setEnabledSpanGroups,
  setSpanGroupSpec,
  SpanRegistry,
  traceFn,
  withSpan,
} from 'nest-lens/core';
import { createLensTestbed, type LensTestbed, type LensTestbedOptions } from 'nest-lens/testing';
import { captureWarnings } from '../support/capture-warnings.js';

const shop = defineSpanGroups({
  namespace: 'shop',
  groups: ['orders', 'payment', 'stock'],
  presets: { default: ['orders'] },
});

const made: LensTestbed[] = [];
async function testbedWith(options: LensTestbedOptions = { definitions: [shop] }): Promise<LensTestbed> {
  const testbed = await createLensTestbed(options);
  made.push(testbed);
  return testbed;
}
/** Hooks of a `describe` come before those of the set-up file, which would reset the testbed instead of the process. */
function disposeAfterEach(): void {
  afterEach(async () => {
    for (const testbed of made.splice(0)) await testbed.dispose();
  });
}

const names = (testbed: LensTestbed): string[] => testbed.spans().map(({ name }) => name);

function placeOrder(fails = false): void {
  managedSpan('orders', 'orders.place', { attributes: () => ({ 'order.items': 2 }) }, () => {
    managedSpan('stock', 'stock.take', () => undefined);
    managedSpan('payment', 'payment.charge', () => {
      if (fails) throw new Error('declined');
    });
  });
}

describe('spans()', () => {
  disposeAfterEach();

  it('I1: are those of the groups that are on, in the order of their ends', async () => {
    const testbed = await testbedWith({ spec: 'orders,payment', definitions: [shop] });
    placeOrder();
    expect(names(testbed)).toEqual(['payment.charge', 'orders.place']);
  });

  it('I1: are those of all groups without a spec', async () => {
    const testbed = await testbedWith();
    placeOrder();
    expect(names(testbed)).toEqual(['stock.take', 'payment.charge', 'orders.place']);
  });

  it('I9: follow the flow of asynchronous work, and carry what was set on them', async () => {
    const testbed = await testbedWith();
    await managedSpan('orders', 'orders.place', { kind: SpanKind.SERVER }, async (span) => {
      await nextTurn();
      span!.setAttributes({ 'order.items': 2, 'order.nothing': undefined, 'order.tags': ['a', 'b'] });
      span!.addEvent('packed', { boxes: 1 });
      managedSpan('stock', 'stock.take', () => undefined);
    });
    const [take, place] = [testbed.span('stock.take'), testbed.span('orders.place')];
    expect(take.parentSpanContext?.spanId).toBe(place.spanContext().spanId);
    expect(take.spanContext().traceId).toBe(place.spanContext().traceId);
    expect(place).toMatchObject({
      kind: SpanKind.SERVER,
      status: { code: SpanStatusCode.UNSET },
      attributes: { 'nestlens.group': 'orders', 'order.items': 2, 'order.tags': ['a', 'b'] },
      events: [{ name: 'packed', attributes: { boxes: 1 } }],
      instrumentationScope: { name: 'nest-lens' },
      ended: true,
    });
    expect(Object.keys(place.attributes)).not.toContain('order.nothing');
    expect(Math.abs(place.startTime[0] - Date.now() / 1_000)).toBeLessThan(60);
    expect(place.duration[0]).toBe(0);
  });

  it('I2: have the exception and the status of work that throws', async () => {
    const testbed = await testbedWith();
    expect(() => placeOrder(true)).toThrow('declined');
    for (const name of ['payment.charge', 'orders.place']) {
      expect(testbed.span(name)).toMatchObject({
        status: { code: SpanStatusCode.ERROR, message: 'declined' },
        events: [
          { name: 'exception', attributes: { 'exception.message': 'declined', 'exception.type': 'Error' } },
        ],
      });
    }
  });

  it('I5: those of withSpan and of other tracers are among them', async () => {
    const testbed = await testbedWith();
    withSpan('nightly', () => {
      trace.getTracer('library').startActiveSpan('library.work', (span) => {
        placeOrder();
        span.end();
      });
    });
    expect(testbed.tree()).toBe(
      [
        'nightly',
        '  library.work',
        '    orders.place [orders]',
        '      stock.take [stock]',
        '      payment.charge [payment]',
      ].join('\n'),
    );
    expect(testbed.span('library.work').instrumentationScope).toEqual({ name: 'library' });
  });

  it('stay when the testbed is disposed', async () => {
    const testbed = await testbedWith();
    placeOrder();
    await testbed.dispose();
    placeOrder();
    expect(testbed.spans()).toHaveLength(3);
  });
});

describe('span()', () => {
  disposeAfterEach();

  it('names what there is when it finds none, or several', async () => {
    const testbed = await testbedWith({ spec: 'orders', definitions: [shop] });
    expect(() => testbed.span('orders.place')).toThrow(/0 have ended.*on: orders\..*\(none\)/s);
    placeOrder();
    placeOrder();
    expect(() => testbed.span('orders.place')).toThrow(
      /2 have ended.*\norders\.place \[orders\]\norders\.place \[orders\]$/s,
    );
    expect(() => testbed.span('payment.charge')).toThrow('Expected exactly one span named "payment.charge"');
  });
});

describe('tree()', () => {
  disposeAfterEach();

  it('marks what failed, what was cancelled, and what has not ended', async () => {
    const testbed = await testbedWith();
    expect(testbed.tree()).toBe('');
    const values = traceFn(
      'stock',
      'stock.list',
    )(async function* () {
      yield 1;
    })();
    await values.next();
    await values.return();
    let finish!: () => void;
    const pending = managedSpan('orders', 'orders.watch', () => new Promise<void>((done) => (finish = done)));
    expect(() => placeOrder(true)).toThrow('declined');
    expect(testbed.tree()).toBe(
      [
        'stock.list [stock] cancelled',
        'orders.watch [orders] not ended',
        'orders.place [orders] ERROR declined',
        '  stock.take [stock]',
        '  payment.charge [payment] ERROR declined',
      ].join('\n'),
    );
    finish();
    await pending;
    expect(testbed.tree()).toContain('orders.watch [orders]\n');
  });

  it('shows a span of a trace that began elsewhere as a root', async () => {
    const testbed = await testbedWith();
    const caller = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), traceFlags: 1, isRemote: true };
    context.with(trace.setSpanContext(context.active(), caller), placeOrder);
    expect(testbed.tree().split('\n')[0]).toBe('orders.place [orders]');
    expect(testbed.span('orders.place').spanContext().traceId).toBe(caller.traceId);
  });
});

describe('withGroups()', () => {
  disposeAfterEach();

  it('T7: puts a spec in force for a call, and gives back its result', async () => {
    const testbed = await testbedWith({ spec: 'orders', definitions: [shop] });
    expect(testbed.withGroups('payment', () => (placeOrder(), 'placed'))).toBe('placed');
    expect(names(testbed)).toEqual(['payment.charge']);
    expect([...enabledSpanGroups()]).toEqual(['orders']);
  });

  it('T7: does so until a promise has settled, and when the call throws or rejects', async () => {
    const testbed = await testbedWith({ spec: 'orders', definitions: [shop] });
    await testbed.withGroups('payment', async () => {
      await nextTurn();
      expect([...enabledSpanGroups()]).toEqual(['payment']);
    });
    const failed = testbed.withGroups('', () => Promise.reject(new Error('late')));
    expect([...enabledSpanGroups()]).toEqual([]);
    await expect(failed).rejects.toThrow('late');
    expect(() =>
      testbed.withGroups('', () => {
        throw new Error('at once');
      }),
    ).toThrow('at once');
    expect([...enabledSpanGroups()]).toEqual(['orders']);
  });

  it('T7: awaits what is only begun when it is awaited, such as a request', async () => {
    const testbed = await testbedWith({ spec: 'orders', definitions: [shop] });
    const lazy: PromiseLike<string> = {
      then: (done) => Promise.resolve([...enabledSpanGroups()].join()).then(done),
    };
    expect(await testbed.withGroups('payment', () => lazy)).toBe('payment');
  });

  it('T7: can be nested, and calls that overlap end in any order', async () => {
    const testbed = await testbedWith({ spec: 'orders', definitions: [shop] });
    testbed.withGroups('payment', () => {
      testbed.withGroups('stock', () => expect([...enabledSpanGroups()]).toEqual(['stock']));
      expect([...enabledSpanGroups()]).toEqual(['payment']);
    });
    const ends: (() => void)[] = [];
    const calls = ['payment', 'stock'].map((spec) =>
      testbed.withGroups(spec, () => new Promise<void>((done) => ends.push(done))),
    );
    ends[0]!();
    await calls[0];
    expect([...enabledSpanGroups()]).toEqual(['stock']);
    ends[1]!();
    await calls[1];
    expect([...enabledSpanGroups()]).toEqual(['orders']);
  });

  it('I1: with no group on, a site computes nothing', async () => {
    const testbed = await testbedWith();
    const attributes = vi.fn(() => ({}));
    testbed.withGroups('', () =>
      managedSpan('orders', 'orders.place', { attributes }, (span) => expect(span).toBeUndefined()),
    );
    expect(attributes).not.toHaveBeenCalled();
    expect(testbed.tree()).toBe('');
  });
});

describe('reset()', () => {
  disposeAfterEach();

  it('takes everything back to how it was made', async () => {
    captureWarnings();
    const testbed = await testbedWith({ spec: 'orders', definitions: [shop] });
    placeOrder();
    SpanRegistry.register('warehouse', ['cellar']);
    SpanRegistry.unregister('shop');
    overrideSpanGroups('all');
    setEnabledSpanGroups(['cellar']);
    testbed.reset();
    expect(testbed.spans()).toEqual([]);
    expect(SpanRegistry.namespaces()).toEqual(['shop']);
    expect([...enabledSpanGroups()]).toEqual(['orders']);
    placeOrder();
    expect(names(testbed)).toEqual(['orders.place']);
  });

  it('does not catch spans that were under way', async () => {
    const testbed = await testbedWith();
    managedSpan('orders', 'orders.place', () => testbed.reset());
    expect(testbed.spans()).toEqual([]);
    expect(testbed.tree()).toBe('');
  });
});

describe('a testbed', () => {
  disposeAfterEach();

  it('R1: starts with its definitions alone, or with what is registered outside', async () => {
    SpanRegistry.register('library', ['parse'], { default: ['parse'] });
    const own = await testbedWith();
    expect(SpanRegistry.namespaces()).toEqual(['shop']);
    await own.dispose();
    await testbedWith({ spec: 'default' });
    expect(SpanRegistry.namespaces()).toEqual(['library']);
    expect([...enabledSpanGroups()]).toEqual(['parse']);
  });

  it('R1: leaves what is outside as it is', async () => {
    const warnings = captureWarnings();
    SpanRegistry.register('library', ['parse']);
    setSpanGroupSpec('parse');
    overrideSpanGroups('all', { ttlMs: 60_000 });
    const parse = traceFn('parse', 'library.parse')(() => isSpanGroupEnabled('parse'));

    const testbed = await testbedWith({ spec: 'orders', definitions: [shop] });
    expect([parse(), isSpanGroupEnabled('orders')]).toEqual([false, true]);
    expect([...new Set(enabledSpanGroups())]).toEqual(['orders']);
    const late = traceFn('payment', 'late')(() => 'made meanwhile');
    setEnabledSpanGroups(['payment']);
    SpanRegistry.clear();
    SpanRegistry.register('library', ['other']);
    late();
    expect(names(testbed)).toEqual(['late']);
    await testbed.dispose();

    expect(SpanRegistry.namespaces()).toEqual(['library']);
    expect([...SpanRegistry.groups()]).toEqual(['parse']);
    expect([...enabledSpanGroups()]).toEqual(['parse']);
    expect([parse(), isSpanGroupEnabled('payment'), late()]).toEqual([true, false, 'made meanwhile']);
    SpanRegistry.register('more', ['more']);
    expect(isSpanGroupEnabled('more')).toBe(true);
    expect(warnings.codes()).toEqual([]);
    placeOrder();
    expect(names(testbed)).toEqual(['late']);
  });

  it('H6: catches the spans of an application that has a provider, which is there again afterwards', async () => {
    const outside: string[] = [];
    const provider = {
      getTracer: () => ({
        startSpan: (name: string) => {
          outside.push(name);
          return trace.wrapSpanContext({ traceId: '', spanId: '', traceFlags: 0 });
        },
        startActiveSpan: () => undefined,
      }),
    };
    const early = trace.getTracer('taken when a module was loaded');
    trace.setGlobalTracerProvider(provider);
    const testbed = await testbedWith();
    withSpan('inside', () => undefined);
    await testbed.dispose();
    withSpan('outside', () => undefined);
    early.startSpan('early').end();
    expect([names(testbed), outside]).toEqual([['inside'], ['outside', 'early']]);
  });

  it('catches the spans of a tracer that somebody keeps, in one testbed after another', async () => {
    const tracer = trace.getTracer('kept');
    const caught: string[][] = [];
    for (const name of ['first', 'second']) {
      await using testbed = await createLensTestbed();
      tracer.startSpan(name).end();
      caught.push(names(testbed));
    }
    expect(caught).toEqual([['first'], ['second']]);
    tracer.startSpan('nobody').end();
  });

  it('catches spans again after a hook has unregistered everything, as tests of OpenTelemetry do', async () => {
    await testbedWith();
    trace.disable();
    context.disable();
    const testbed = await testbedWith();
    placeOrder();
    expect(testbed.tree()).toBe('orders.place [orders]\n  stock.take [stock]\n  payment.charge [payment]');
  });

  it('keeps the context manager that is registered, or takes its own away again', async () => {
    const testbed = await testbedWith();
    const isActive = (): boolean =>
      context.with(
        trace.setSpan(
          context.active(),
          withSpan('s', (span) => span),
        ),
        () => trace.getActiveSpan() !== undefined,
      );
    expect(isActive()).toBe(true);
    const emitter = context.bind(
      trace.setSpanContext(context.active(), {
        traceId: 'a'.repeat(32),
        spanId: 'b'.repeat(16),
        traceFlags: 1,
      }),
      new EventEmitter(),
    );
    const seen: (string | undefined)[] = [];
    const listener = (): void => void seen.push(trace.getActiveSpan()?.spanContext().spanId);
    emitter.once('data', listener).on('end', listener);
    emitter.emit('data');
    emitter.emit('data');
    emitter.off('end', listener).emit('end');
    expect(seen).toEqual(['b'.repeat(16)]);
    await testbed.dispose();
    expect(isActive()).toBe(false);
  });

  it('W3: says which names of its spec nothing has registered, where a span is missing', async () => {
    const testbed = await testbedWith({ spec: 'oders,payment', definitions: [shop] });
    placeOrder();
    expect(() => testbed.span('orders.place')).toThrow(
      /on: payment\. Entries of the spec that match nothing: oders\./,
    );
  });

  it('W2: says nothing of a registry that is still empty, nor of registrations that follow', async () => {
    const warnings = captureWarnings();
    await testbedWith({ spec: 'orders', definitions: [] });
    expect(isSpanGroupEnabled('orders')).toBe(false);
    shop.register();
    expect(isSpanGroupEnabled('orders')).toBe(true);
    expect(warnings.codes()).toEqual([]);
  });

  it('R4: that cannot be made leaves nothing behind', async () => {
    const bad = createLensTestbed({ definitions: [{ namespace: '', groups: ['a'] }] });
    await expect(bad).rejects.toMatchObject({ code: 'EMPTY_NAMESPACE' });
    placeOrder();
    expect([...enabledSpanGroups()]).toEqual([]);
  });

  it('refuses to work when it is disposed, and says what to do', async () => {
    const testbed = await testbedWith();
    await testbed.dispose();
    await testbed.dispose();
    expect(() => testbed.withGroups('orders', placeOrder)).toThrow('createLensTestbed()');
    expect(() => testbed.reset()).toThrow('disposed');
  });

  it('leaves fake timers alone', async () => {
    vi.useFakeTimers({ now: new Date('2026-11-30T12:00:00Z') });
    try {
      await using testbed = await createLensTestbed({ definitions: [shop] });
      const slept = managedSpan(
        'orders',
        'orders.wait',
        () => new Promise((done) => setTimeout(done, 1_500)),
      );
      await vi.advanceTimersByTimeAsync(1_500);
      await slept;
      expect(testbed.span('orders.wait').duration).toEqual([1, 500_000_000]);
      expect(new Date(testbed.span('orders.wait').startTime[0] * 1_000)).toEqual(
        new Date('2026-11-30T12:00:00Z'),
      );
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('several testbeds', () => {
  disposeAfterEach();

  const caughtBy = (...testbeds: LensTestbed[]): number[] => testbeds.map((each) => each.spans().length);

  it('at once: the newest one catches, until it is disposed', async () => {
    const outer = await testbedWith({ spec: 'orders', definitions: [shop] });
    const inner = await testbedWith({ spec: 'payment', definitions: [shop] });
    placeOrder();
    expect([names(outer), names(inner)]).toEqual([[], ['payment.charge']]);
    await inner.dispose();
    placeOrder();
    expect([names(outer), names(inner)]).toEqual([['orders.place'], ['payment.charge']]);
  });

  it('at once: each catches what it runs itself', async () => {
    const first = await testbedWith({ spec: 'orders', definitions: [shop] });
    const second = await testbedWith({ spec: 'payment', definitions: [shop] });
    first.withGroups('stock', placeOrder);
    await second.withGroups('all', async () => {
      await nextTurn();
      placeOrder();
    });
    expect([names(first), caughtBy(second)]).toEqual([['stock.take'], [3]]);
    await first.dispose();
    placeOrder();
    expect(caughtBy(first, second)).toEqual([1, 4]);
  });

  it('of tests that run at the same time are told apart, with their registries and specs', async () => {
    const work = async (spec: string): Promise<string[]> => {
      await using testbed = await createLensTestbed({
        spec,
        definitions: [shop, { namespace: `only_${spec}`, groups: [`only_${spec}`] }],
      });
      for (let turn = 0; turn < 5; turn++) {
        await nextTurn();
        placeOrder();
        expect(SpanRegistry.namespaces()).toEqual([`only_${spec}`, 'shop']);
        expect([...enabledSpanGroups()]).toEqual([spec]);
        await testbed.withGroups('', async () => {
          await nextTurn();
          placeOrder();
        });
      }
      return names(testbed);
    };
    const caught = await Promise.all(['orders', 'payment', 'stock'].map(work));
    expect(caught.map((each) => new Set(each))).toEqual([
      new Set(['orders.place']),
      new Set(['payment.charge']),
      new Set(['stock.take']),
    ]);
    expect(caught.map((each) => each.length)).toEqual([5, 5, 5]);
    expect(SpanRegistry.namespaces()).toEqual([]);
  });

  it('of hooks: one for all tests and one for a test', async () => {
    const outer = await testbedWith();
    // A hook that makes it after an await: the test runs in another flow.
    const hook = async (): Promise<LensTestbed> => {
      await nextTurn();
      return testbedWith();
    };
    const inner = await hook();
    placeOrder();
    expect(caughtBy(outer, inner)).toEqual([0, 3]);
    await inner.dispose();
    placeOrder();
    expect(caughtBy(outer, inner)).toEqual([3, 3]);
  });

  it('R1: of two copies of the package are of one process', async () => {
    const first = await testbedWith({ spec: 'orders', definitions: [shop] });
    vi.resetModules();
    const copy = await import('nest-lens/testing');
    expect(copy.createLensTestbed).not.toBe(createLensTestbed);
    const second = await copy.createLensTestbed({ spec: 'payment', definitions: [shop] });
    placeOrder();
    await first.dispose();
    placeOrder();
    expect([names(first), names(second)]).toEqual([[], ['payment.charge', 'payment.charge']]);
    await second.dispose();
    expect([...enabledSpanGroups()]).toEqual([]);
    placeOrder();
    expect(caughtBy(first, second)).toEqual([0, 2]);
  });
});
