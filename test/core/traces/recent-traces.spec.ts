import { beforeEach, describe, expect, it } from 'vitest';
import { context, ROOT_CONTEXT, type Span, SpanKind, trace, TraceFlags } from '@opentelemetry/api';
import { BasicTracerProvider, type SpanProcessor } from '@opentelemetry/sdk-trace-base';
import { managedSpan, SpanRegistry } from 'nest-lens/core';
import { createLensTestbed } from 'nest-lens/testing';
import { processState } from '../../../src/core/state/process-state.js';
import { keepRecentTraces } from '../../../src/core/telemetry/keep-recent-traces.js';
import { listRecentTraces, recentTrace } from '../../../src/core/traces/recent-trace-report.js';
import { captureWarnings } from '../../support/capture-warnings.js';
import { setUpForTest } from '../../support/live-telemetry.js';

const tracer = () => trace.getTracer('test');
const keep = (limit = 100, ownRoutes: string[] = []) => keepRecentTraces({ limit, ownRoutes });
const under = (parent: Span) => trace.setSpan(ROOT_CONTEXT, parent);
const makeTrace = (name: string, attributes = {}): string => {
  const span = tracer().startSpan(name, { attributes }, ROOT_CONTEXT);
  span.end();
  return span.spanContext().traceId;
};
const names = (): string[] => listRecentTraces().map(({ name }) => name);
const spansOf = (traceId: string) => recentTrace(traceId)?.spans ?? [];

beforeEach(() => SpanRegistry.register('shop', ['orders']));

async function setUp(limit?: number): Promise<void> {
  await setUpForTest();
  keep(limit);
}

describe('a trace', () => {
  it('is finished when its local root has ended, and not before', async () => {
    await setUp();
    const root = tracer().startSpan('root', {}, ROOT_CONTEXT);
    tracer().startSpan('child', {}, under(root)).end();
    expect(listRecentTraces()).toEqual([]);
    expect(recentTrace(root.spanContext().traceId)).toBeUndefined();
    root.end();
    expect(names()).toEqual(['root']);
    expect(listRecentTraces()[0]).toEqual({
      traceId: root.spanContext().traceId,
      name: 'root',
      startedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      durationMs: expect.any(Number),
      error: false,
      spans: 2,
    });
  });

  it('has a local root whose parent is in another process', async () => {
    await setUp();
    const caller = { traceId: '1'.repeat(32), spanId: '2'.repeat(16), traceFlags: TraceFlags.SAMPLED };
    const parent = trace.setSpanContext(ROOT_CONTEXT, { ...caller, isRemote: true });
    tracer().startSpan('first', {}, parent).end();
    tracer().startSpan('second', {}, parent).end();
    expect(listRecentTraces()).toMatchObject([{ traceId: caller.traceId, name: 'first', spans: 2 }]);
    expect(spansOf(caller.traceId).map(({ parentSpanId }) => parentSpanId)).toEqual([
      caller.spanId,
      caller.spanId,
    ]);
  });

  it('takes spans in that end after its root', async () => {
    await setUp();
    const root = tracer().startSpan('root', {}, ROOT_CONTEXT);
    const late = tracer().startSpan('late', {}, under(root));
    root.end();
    late.setStatus({ code: 2, message: 'too late' }).end();
    expect(listRecentTraces()).toMatchObject([{ name: 'root', spans: 2, error: true }]);
    expect(spansOf(root.spanContext().traceId).map(({ name }) => name)).toEqual(['root', 'late']);
  });

  it('reads as a tree, the children of each span as they started', async () => {
    await setUp();
    const root = tracer().startSpan('root', {}, ROOT_CONTEXT);
    const first = tracer().startSpan('first', {}, under(root));
    const inner = tracer().startSpan('inner', {}, under(first));
    tracer().startSpan('second', {}, under(root)).end();
    inner.end();
    first.end();
    root.end();
    const spans = spansOf(root.spanContext().traceId);
    expect(spans.map(({ name }) => name)).toEqual(['root', 'first', 'inner', 'second']);
    // Exact to microseconds, though the SDK says in which millisecond only.
    const starts = spans.map(({ startedAt }) => startedAt);
    expect([...starts].sort()).toEqual(starts);
  });

  it('reads span by span', async () => {
    await setUp();
    const failure = new RangeError('sold out');
    expect(() =>
      managedSpan('orders', 'orders.place', { kind: SpanKind.SERVER, attributes: { 'order.id': 7 } }, () =>
        managedSpan('orders', 'stock.take', () => {
          throw failure;
        }),
      ),
    ).toThrow(failure);
    const [{ traceId } = { traceId: '' }] = listRecentTraces();
    expect(Object.keys(recentTrace(traceId)!)).toEqual(['traceId', 'spans']);
    const [place, take] = spansOf(traceId);
    expect(place).toEqual({
      spanId: expect.stringMatching(/^[\da-f]{16}$/),
      parentSpanId: null,
      name: 'orders.place',
      group: 'orders',
      kind: 'server',
      startedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
      durationMs: expect.any(Number),
      status: { code: 'error', message: 'sold out' },
      attributes: { 'order.id': 7, 'nestlens.group': 'orders' },
      events: [expect.objectContaining({ name: 'exception' })],
    });
    expect(take).toMatchObject({ parentSpanId: place!.spanId, kind: 'internal' });
    expect(take!.events[0]).toMatchObject({
      at: expect.stringMatching(/Z$/),
      attributes: {
        'exception.type': 'RangeError',
        'exception.message': 'sold out',
        'exception.stacktrace': expect.stringContaining('recent-traces.spec'),
      },
    });
  });

  it('I7: shows no secrets, whoever set them; statements of databases stay', async () => {
    await setUp();
    const traceId = makeTrace('login', {
      'user.password': 'hunter2',
      'http.request.header.authorization': ['Bearer x'],
      'db.query.text': 'select $1',
      has_password: true,
    });
    const [span] = spansOf(traceId);
    expect(span!.attributes).toEqual({
      'user.password': '[REDACTED]',
      'http.request.header.authorization': '[REDACTED]',
      'db.query.text': 'select $1',
      has_password: true,
    });
  });

  it('I14: has times that can be told, whatever the application has set', async () => {
    await setUp();
    const span = tracer().startSpan('odd', { startTime: [Number.NaN, 0] }, ROOT_CONTEXT);
    span.end([Infinity, 0]);
    expect(listRecentTraces()).toMatchObject([{ startedAt: '1970-01-01T00:00:00.000Z' }]);
    expect(spansOf(span.spanContext().traceId)).toMatchObject([{ startedAt: '1970-01-01T00:00:00.000000Z' }]);
  });

  it('I14: reads whatever is its name, and stays bounded', async () => {
    await setUp();
    for (const name of [7, null, Object.create(null), Symbol('odd'), undefined]) makeTrace(name as string);
    expect(listRecentTraces()).toHaveLength(5);
    for (const { traceId } of listRecentTraces())
      expect(JSON.stringify(recentTrace(traceId))).toContain(traceId);
    expect(processState.recentTraces!.bytes).toBeGreaterThan(5 * 500);
  });

  it('is kept in a testbed, too', async () => {
    await using testbed = await createLensTestbed({ spec: 'orders' });
    keep();
    managedSpan('orders', 'orders.place', () => managedSpan('orders', 'orders.pay', () => undefined));
    expect(listRecentTraces()).toMatchObject([{ name: 'orders.place', spans: 2 }]);
    expect(testbed.spans()).toHaveLength(2);
  });

  it('that NestLens has made by answering is not kept', async () => {
    await setUpForTest();
    keep(10, ['/lens/groups/:name']);
    makeTrace('GET', { 'http.route': '/lens/groups/:name' });
    makeTrace('GET', { 'http.route': '/lens/groups' });
    expect(listRecentTraces()).toHaveLength(1);
    expect(processState.recentTraces).toMatchObject({ open: new Map(), bytes: expect.any(Number) });
  });
});

describe('the traces that are kept', () => {
  it('are the last ones, the newest first', async () => {
    await setUp(3);
    for (const name of ['a', 'b', 'c', 'd', 'e']) makeTrace(name);
    expect(names()).toEqual(['e', 'd', 'c']);
    // Two applications of a process share them.
    keep(2);
    makeTrace('f');
    expect(names()).toEqual(['f', 'e', 'd']);
  });

  it('are bounded in bytes', async () => {
    await setUp(1_000);
    // 200 of 400 KB each: 80 MB.
    for (let at = 0; at < 200; at++) {
      const attributes = Object.fromEntries([...'abcdefgh'].map((key) => [key, String(at).padEnd(50_000)]));
      makeTrace(`big ${at}`, attributes);
    }
    const { bytes, finished } = processState.recentTraces!;
    expect(bytes).toBeLessThan(16_000_001);
    expect(names()[0]).toBe('big 199');
    // Each is a copy by now, with its texts cut.
    expect(finished.size).toBeGreaterThan(100);
    expect(String(spansOf(listRecentTraces()[0]!.traceId)[0]!.attributes['a'])).toMatch(
      /… \(50000 characters\)$/,
    );
  });

  it('are bounded in spans, which are counted all the same', async () => {
    await setUp();
    const root = tracer().startSpan('root', {}, ROOT_CONTEXT);
    for (let at = 0; at < 3_000; at++) tracer().startSpan('child', {}, under(root)).end();
    root.end();
    expect(listRecentTraces()).toMatchObject([{ name: 'root', spans: 3_001 }]);
    expect(spansOf(root.spanContext().traceId).length).toBeLessThan(1_002);
  });

  it('leave nothing behind of what never finishes', async () => {
    await setUp();
    for (let at = 0; at < 2_000; at++) {
      const root = tracer().startSpan('never ends', {}, ROOT_CONTEXT);
      tracer().startSpan('child', {}, under(root)).end();
    }
    const { open, bytes } = processState.recentTraces!;
    expect(open.size).toBeLessThan(501);
    expect(bytes).toBeLessThan(501 * 2_000);
    expect(listRecentTraces()).toEqual([]);
  });

  it('are forgotten when telemetry is shut down, and belong to one set-up', async () => {
    const handle = await setUpForTest();
    keep();
    makeTrace('first');
    await handle.shutdown();
    expect(listRecentTraces()).toEqual([]);
    await setUpForTest();
    keep();
    makeTrace('second');
    expect(names()).toEqual(['second']);
  });

  it('are none while telemetry is off', async () => {
    keep();
    await setUpForTest({ enabled: false });
    keep();
    expect(processState.recentTraces).toBeUndefined();
    expect(listRecentTraces()).toEqual([]);
  });
});

describe('H6: with a provider of the application', () => {
  const register = (spanProcessors: SpanProcessor[]): BasicTracerProvider => {
    const provider = new BasicTracerProvider({ spanProcessors });
    trace.setGlobalTracerProvider(provider);
    return provider;
  };
  const ended: string[] = [];
  const own: SpanProcessor = {
    onStart: () => undefined,
    onEnd: (span) => void ended.push(span.name),
    forceFlush: async () => undefined,
    shutdown: async () => undefined,
  };

  it('traces are kept, and its processors get what they would without; at the end it is as it was', async () => {
    register([own]);
    const handle = await setUpForTest({}, { mode: 'attach' });
    keep();
    makeTrace('attached');
    expect(names()).toEqual(['attached']);
    await handle.shutdown();
    makeTrace('after');
    expect(ended.splice(0)).toEqual(['attached', 'after']);
    expect(listRecentTraces()).toEqual([]);
  });

  it('one that takes no processor is said, and serves as before', async () => {
    const warnings = captureWarnings();
    const given = register([own]);
    trace.disable();
    trace.setGlobalTracerProvider({ getTracer: (name: string) => given.getTracer(name) });
    await setUpForTest({}, { mode: 'attach' });
    keep();
    makeTrace('unseen');
    expect(ended.splice(0)).toEqual(['unseen']);
    expect(listRecentTraces()).toEqual([]);
    expect(warnings.codes()).toEqual(['RECENT_TRACES_UNSEEN']);
  });

  it('a span of another shape hurts nobody', async () => {
    register([own]);
    await setUpForTest({}, { mode: 'attach' });
    keep();
    const span = tracer().startSpan('odd', {}, ROOT_CONTEXT);
    Object.defineProperty(span, 'events', { value: undefined });
    expect(() => context.with(under(span), () => span.end())).not.toThrow();
    expect(ended.splice(0)).toEqual(['odd']);
  });
});
