import { beforeEach, describe, expect, it, vi } from 'vitest';
import {
  context,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
} from '@opentelemetry/api';
import {
  injectContext,
  managedSpan,
  setEnabledSpanGroups,
  setSpanGroupSpec,
  SpanRegistry,
} from 'nest-lens/core';
import { beginPreview } from '../../../src/core/groups/span-preview.js';
import {
  captureSpans,
  type CapturedSpans,
  exceptions,
  parentId,
  spanId,
} from '../../support/capture-spans.js';
import { setUpForTest } from '../../support/live-telemetry.js';
import { spanIdPropagator } from '../../support/span-id-propagator.js';
import { captureWarnings } from '../../support/capture-warnings.js';

let spans: CapturedSpans;
beforeEach(() => {
  spans = captureSpans();
});

const on = (...groups: string[]): void => setEnabledSpanGroups(groups.length === 0 ? ['orders'] : groups);
const off = (): void => setEnabledSpanGroups([]);
const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('managedSpan, group on', () => {
  beforeEach(() => on());

  it('I1: makes one span with the name, the group, no error, and hands the result back', () => {
    const result = { id: 1 };
    expect(managedSpan('orders', 'orders.place', () => result)).toBe(result);
    const span = spans.single();
    expect(span.name).toBe('orders.place');
    expect(span.kind).toBe(SpanKind.INTERNAL);
    expect(span.status).toEqual({ code: SpanStatusCode.UNSET });
    expect(span.attributes).toEqual({ 'nestlens.group': 'orders' });
    expect(span.events).toEqual([]);
    expect(span.ended).toBe(true);
    expect(parentId(span)).toBeUndefined();
    expect([spans.startedCount(), spans.openCount()]).toEqual([1, 0]);
  });

  it('I1: the span is current in the body, is what the body gets, and is ended after it', () => {
    let inside: Span | undefined;
    managedSpan('orders', 'place', (span) => {
      inside = span;
      expect(trace.getActiveSpan()).toBe(span);
      expect(span?.isRecording()).toBe(true);
      expect(spans.openCount()).toBe(1);
    });
    expect(inside?.isRecording()).toBe(false);
    expect(trace.getActiveSpan()).toBeUndefined();
  });

  it('I1: takes attributes, kind and links', () => {
    const link = {
      context: { traceId: '1'.repeat(32), spanId: '2'.repeat(16), traceFlags: TraceFlags.SAMPLED },
    };
    managedSpan(
      'orders',
      'place',
      { attributes: { 'order.id': 7, tags: ['a'] }, kind: SpanKind.CONSUMER, links: [link] },
      () => undefined,
    );
    const span = spans.single('place');
    expect(span.kind).toBe(SpanKind.CONSUMER);
    expect(span.attributes).toEqual({ 'order.id': 7, tags: ['a'], 'nestlens.group': 'orders' });
    expect(span.links.map((each) => each.context)).toEqual([link.context]);
  });

  it('I10: no attribute of the site can hide the group', () => {
    managedSpan('orders', 'place', { attributes: { 'nestlens.group': 'another' } }, () => undefined);
    expect(spans.single().attributes).toEqual({ 'nestlens.group': 'orders' });
  });

  it('I1: members of the work are no options', () => {
    managedSpan(
      'orders',
      'place',
      Object.assign(() => 1, { attributes: { day: 1 }, kind: SpanKind.CLIENT }),
    );
    const { attributes, kind } = spans.single('place');
    expect([attributes, kind]).toEqual([{ 'nestlens.group': 'orders' }, SpanKind.INTERNAL]);
  });

  it('I1: a given tracer makes the span', () => {
    const startSpan = vi.spyOn(spans.tracer, 'startSpan');
    managedSpan('orders', 'place', { tracer: spans.tracer }, () => undefined);
    managedSpan('orders', 'place', () => undefined);
    expect(spans.named('place').map((span) => span.instrumentationScope.name)).toEqual(['test', 'nest-lens']);
    expect(startSpan).toHaveBeenCalledTimes(1);
  });

  it('I3: an attributes function runs once, and its attributes are on the span from its start', () => {
    const attributes = vi.fn(() => ({ 'order.id': 7 }));
    managedSpan('orders', 'place', { attributes }, (span) => {
      expect((span as unknown as { attributes: object }).attributes).toMatchObject({ 'order.id': 7 });
    });
    expect(attributes).toHaveBeenCalledTimes(1);
    expect(spans.single().attributes).toEqual({ 'order.id': 7, 'nestlens.group': 'orders' });
  });

  it('I1: an attributes function that throws leaves no span open, and the work is done; one warning says so', () => {
    const warnings = captureWarnings();
    const attributes = (): never => {
      throw new Error('no attributes');
    };
    for (let i = 0; i < 2; i++)
      expect(managedSpan('orders', 'place', { attributes }, () => 'done')).toBe('done');
    expect([spans.names(), spans.openCount()]).toEqual([['place', 'place'], 0]);
    expect(warnings.codes()).toEqual(['ATTRIBUTES_FAILED']);
    expect(warnings.all[0]!.message).toContain('no attributes');
  });

  it.each([7, true, 'order', Symbol('order'), null, undefined])(
    'I1: attributes that are no object, %s, are none',
    (attributes) => {
      for (const given of [attributes, () => attributes]) {
        managedSpan('orders', 'place', { attributes: given as never }, () => undefined);
      }
      for (const span of spans.all()) expect(span.attributes).toEqual({ 'nestlens.group': 'orders' });
      expect(spans.all()).toHaveLength(2);
    },
  );

  it('I1: an async attributes function, which types forbid, costs its attributes alone, also if it rejects', async () => {
    const rejections: unknown[] = [];
    const onRejection = (reason: unknown): void => void rejections.push(reason);
    process.on('unhandledRejection', onRejection);
    for (const attributes of [async () => ({ a: 1 }), () => Promise.reject(new Error('no attributes'))]) {
      const work = managedSpan('orders', 'place', { attributes: attributes as never }, () => 'done');
      expect(work).toBe('done');
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
    process.off('unhandledRejection', onRejection);
    expect(rejections).toEqual([]);
    expect(spans.all().map((span) => span.attributes)).toEqual([
      { 'nestlens.group': 'orders' },
      { 'nestlens.group': 'orders' },
    ]);
  });

  it('I1: the options given are not changed, and can be used again', () => {
    const options = Object.freeze({ attributes: Object.freeze({ 'order.id': 7 }) });
    managedSpan('orders', 'a', options, () => undefined);
    managedSpan('orders', 'b', options, () => undefined);
    expect(spans.named('b')[0]!.attributes).toEqual({ 'order.id': 7, 'nestlens.group': 'orders' });
    expect(options).toEqual({ attributes: { 'order.id': 7 } });
  });

  it('I1: a sync body stays sync, an async one resolves with its value', async () => {
    expect(managedSpan('orders', 'sync', () => 1)).toBe(1);
    const promise = managedSpan('orders', 'async', async () => {
      await tick();
      return 2;
    });
    expect(spans.names()).toEqual(['sync']);
    expect(await promise).toBe(2);
    expect(spans.names()).toEqual(['sync', 'async']);
  });

  it('I2: a throw is recorded, sets ERROR with the message, and goes on unchanged', () => {
    const error = new TypeError('sold out');
    expect(() =>
      managedSpan('orders', 'place', () => {
        throw error;
      }),
    ).toThrow(error);
    const span = spans.single();
    expect(span.status).toEqual({ code: SpanStatusCode.ERROR, message: 'sold out' });
    expect(exceptions(span).map((event) => event.attributes)).toEqual([
      {
        'exception.type': 'TypeError',
        'exception.message': 'sold out',
        'exception.stacktrace': error.stack,
      },
    ]);
    expect(spans.openCount()).toBe(0);
  });

  it('I2: a rejection too, with the same reason', async () => {
    const error = new Error('sold out');
    const promise = managedSpan('orders', 'place', () => Promise.reject(error));
    await expect(promise).rejects.toBe(error);
    const span = spans.single();
    expect(span.status).toEqual({ code: SpanStatusCode.ERROR, message: 'sold out' });
    expect(exceptions(span)).toHaveLength(1);
  });

  it('I2: each span that an error passes is ERROR, with one exception event each', async () => {
    const error = new Error('sold out');
    await expect(
      managedSpan('orders', 'outer', () => managedSpan('orders', 'inner', async () => Promise.reject(error))),
    ).rejects.toBe(error);
    expect(spans.names()).toEqual(['inner', 'outer']);
    for (const span of spans.all()) {
      expect([span.status.code, exceptions(span).length]).toEqual([SpanStatusCode.ERROR, 1]);
    }
  });

  it('I2: an error that the body handles leaves the span alone', () => {
    managedSpan('orders', 'outer', () => {
      try {
        managedSpan('orders', 'inner', () => {
          throw new Error('handled');
        });
      } catch {
        return;
      }
    });
    expect(spans.single('inner').status.code).toBe(SpanStatusCode.ERROR);
    expect(spans.single('outer').status.code).toBe(SpanStatusCode.UNSET);
    expect(spans.single('outer').events).toEqual([]);
  });

  it('I2: a status that the body set itself is kept when the work succeeds', () => {
    managedSpan('orders', 'place', (span) => span?.setStatus({ code: SpanStatusCode.OK }));
    expect(spans.single().status.code).toBe(SpanStatusCode.OK);
  });

  it.each<[string, () => unknown]>([
    ['returns', () => undefined],
    [
      'throws',
      () => {
        throw new Error('late');
      },
    ],
    ['rejects', () => Promise.reject(new Error('late'))],
    ['resolves', () => Promise.resolve()],
  ])('I1: a body that ended its span itself and then %s is left alone', async (_how, finish) => {
    await Promise.resolve()
      .then(() =>
        managedSpan('orders', 'place', (span) => {
          span?.end();
          return finish();
        }),
      )
      .catch(() => undefined);
    // test/setup.ts fails the test if the SDK complains about an ended span.
    expect(spans.single().status.code).toBe(SpanStatusCode.UNSET);
  });

  it('I1: nested spans hang under each other, and the outer one is current again afterwards', () => {
    managedSpan('orders', 'a', (a) => {
      managedSpan('orders', 'b', (b) => expect(trace.getActiveSpan()).toBe(b));
      expect(trace.getActiveSpan()).toBe(a);
      expect(() =>
        managedSpan('orders', 'c', () => {
          throw new Error('no');
        }),
      ).toThrow('no');
      expect(trace.getActiveSpan()).toBe(a);
    });
    const a = spanId(spans.single('a'));
    expect([parentId(spans.single('b')), parentId(spans.single('c'))]).toEqual([a, a]);
  });

  it('I1: fifty at once keep apart: each child under its own parent', async () => {
    await Promise.all(
      Array.from({ length: 50 }, (_, id) =>
        managedSpan('orders', `outer ${id}`, async (outer) => {
          await new Promise((resolve) => setTimeout(resolve, (id * 7) % 5));
          await managedSpan('orders', `inner ${id}`, () => tick());
          outer?.setAttribute('id', id);
        }),
      ),
    );
    expect(spans.all()).toHaveLength(100);
    for (let id = 0; id < 50; id++) {
      const outer = spans.single(`outer ${id}`);
      expect(outer.attributes.id).toBe(id);
      expect(parentId(spans.single(`inner ${id}`))).toBe(spanId(outer));
    }
    expect(spans.openCount()).toBe(0);
  });
});

describe('managedSpan, group off', () => {
  beforeEach(() => off());

  it('I1: runs the body with undefined and nothing else: no span, no tracer asked for', () => {
    const body = vi.fn(() => 'result');
    expect(managedSpan('orders', 'place', body)).toBe('result');
    expect(managedSpan('orders', 'place', {}, body)).toBe('result');
    expect(body.mock.calls).toEqual([[undefined], [undefined]]);
    expect([spans.startedCount(), spans.tracerLookups()]).toEqual([0, 0]);
  });

  it('I1: touches no context', () => {
    const outside = context.active().setValue(Symbol('outside'), 1);
    context.with(outside, () => {
      managedSpan('orders', 'place', () => expect(context.active()).toBe(outside));
      expect(context.active()).toBe(outside);
    });
  });

  it('I3: computes nothing: attributes are not even read', () => {
    const attributes = vi.fn(() => ({ 'order.id': 7 }));
    managedSpan('orders', 'place', { attributes }, () => undefined);
    expect(attributes).not.toHaveBeenCalled();
    const untouchable = new Proxy(
      {},
      {
        get: () => {
          throw new Error('read');
        },
        has: () => {
          throw new Error('read');
        },
      },
    );
    expect(managedSpan('orders', 'place', untouchable, () => 1)).toBe(1);
  });

  it('I1: hands the result back untouched: the same promise, the same thenable, the same generator', () => {
    const results = [
      Promise.resolve(1),
      {
        then: () => {
          throw new Error('called');
        },
      },
      (async function* () {})(),
      (function* () {})(),
      null,
      undefined,
      Symbol('s'),
    ];
    for (const result of results) expect(managedSpan<unknown>('orders', 'place', () => result)).toBe(result);
  });

  it('I1: lets a throw and a rejection pass', async () => {
    const error = Symbol('odd');
    expect(() =>
      managedSpan('orders', 'place', () => {
        throw error;
      }),
    ).toThrow();
    const rejected = Promise.reject(error);
    const handedBack = managedSpan('orders', 'place', () => rejected);
    expect(handedBack).toBe(rejected);
    await expect(handedBack).rejects.toBe(error);
    expect(spans.all()).toEqual([]);
  });

  it('I11: takes only its own span away: children hang under the nearest enabled ancestor', async () => {
    on('orders', 'db');
    await managedSpan('orders', 'outer', () =>
      managedSpan('cache', 'middle', async () => {
        await tick();
        return managedSpan('cache', 'middle again', () => managedSpan('db', 'inner', () => tick()));
      }),
    );
    expect(spans.names()).toEqual(['inner', 'outer']);
    expect(parentId(spans.single('inner'))).toBe(spanId(spans.single('outer')));
  });

  it('I11: outgoing propagation carries the nearest enabled ancestor', () => {
    propagation.setGlobalPropagator(spanIdPropagator);
    on('orders');
    const carrier: Record<string, string> = {};
    managedSpan('orders', 'outer', () => managedSpan('cache', 'middle', () => injectContext(carrier)));
    expect(carrier).toEqual({ 'x-span': spanId(spans.single('outer')) });
  });

  it('I11: whatever is on or off, no exported span has a parent that was never exported', async () => {
    SpanRegistry.register('shop', ['a', 'b', 'c', 'd']);
    const work = (depth: number): Promise<void> =>
      managedSpan('abcd'[depth % 4]!, `level ${depth}`, async () => {
        await tick();
        if (depth < 6) await Promise.all([work(depth + 1), work(depth + 2)]);
      });
    for (const spec of ['a', 'b', 'd', 'a,c', 'b,d', 'all', 'all,-a']) {
      setSpanGroupSpec(spec);
      spans.clear();
      await work(0);
      const ids = new Set(spans.all().map(spanId));
      expect(ids.size).toBeGreaterThan(0);
      for (const span of spans.all()) {
        const parent = parentId(span);
        if (parent !== undefined) expect(ids).toContain(parent);
      }
    }
  });
});

describe('managedSpan, a gate that is only held open', () => {
  it('I1: counts a call for whoever holds it open, and runs the body with undefined; the groups that are on go on', () => {
    on('orders');
    const preview = beginPreview(['cache'])!;
    const attributes = vi.fn();
    const body = vi.fn(() => 'result');
    expect(managedSpan('cache', 'read', { attributes }, body)).toBe('result');
    expect(managedSpan('cache', 'read', body)).toBe('result');
    managedSpan('orders', 'place', () => undefined);
    preview.end();
    expect(body.mock.calls).toEqual([[undefined], [undefined]]);
    expect(attributes).not.toHaveBeenCalled();
    expect(spans.names()).toEqual(['place']);
    expect([...preview.counts.get('cache')!]).toEqual([['read', 2]]);
  });
});

describe('managedSpan after the set-up', () => {
  it('I1: a group that nobody registered is off, and named in one warning', async () => {
    const warnings = captureWarnings();
    SpanRegistry.register('shop', ['orders']);
    await setUpForTest({ spanGroups: 'orders' });
    for (let i = 0; i < 2; i++) {
      managedSpan('order', 'place', () => undefined);
      managedSpan('orders', 'place', () => undefined);
    }
    expect(warnings.codes()).toEqual(['UNKNOWN_GROUP_AT_SITE']);
    expect(warnings.single('UNKNOWN_GROUP_AT_SITE').message).toContain("managedSpan 'place'");
  });
});

describe('managedSpan without an SDK', () => {
  it('I1: with the group on the body gets a span that takes everything and records nothing', () => {
    trace.disable();
    context.disable();
    on();
    const result = managedSpan('orders', 'place', { attributes: { a: 1 } }, (span) => {
      span!.setAttribute('b', 2).addEvent('e').setStatus({ code: SpanStatusCode.OK });
      expect(span!.isRecording()).toBe(false);
      return 'result';
    });
    expect(result).toBe('result');
    expect(() =>
      managedSpan('orders', 'place', () => {
        throw new Error('still thrown');
      }),
    ).toThrow('still thrown');
  });

  it('I1: a site works from the moment that a provider is registered, and with each later one', () => {
    trace.disable();
    context.disable();
    on();
    const place = (): void => managedSpan('orders', 'place', () => undefined);
    place();
    const first = captureSpans();
    place();
    trace.disable();
    context.disable();
    const second = captureSpans();
    place();
    expect([first.names(), second.names()]).toEqual([['place'], ['place']]);
  });

  it('I1: a tracer that throws costs the span, not the work', () => {
    captureWarnings();
    on();
    const broken = {
      startSpan: () => {
        throw new Error('sampler');
      },
      startActiveSpan: () => {
        throw new Error('sampler');
      },
    };
    expect(managedSpan('orders', 'place', { tracer: broken }, () => 'done')).toBe('done');
  });
});

describe('managedSpan with an SDK that fails', () => {
  it.each(['recordException', 'setStatus', 'setAttribute'] as const)(
    'I1: the span is ended although its %s throws',
    async (method) => {
      captureWarnings();
      on();
      const error = new Error('of the work');
      const broken = (span: Span | undefined): void => {
        vi.spyOn(span!, method).mockImplementation(() => {
          throw new Error('of the SDK');
        });
      };
      expect(() =>
        managedSpan('orders', 'throws', (span) => {
          broken(span);
          throw error;
        }),
      ).toThrow(error);
      await managedSpan('orders', 'returned early', async function* (span) {
        broken(span);
        yield 1;
      }).return(undefined);
      expect([spans.names(), spans.openCount()]).toEqual([['throws', 'returned early'], 0]);
    },
  );
});
