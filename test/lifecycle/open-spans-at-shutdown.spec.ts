import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import {
  context,
  diag,
  DiagLogLevel,
  ROOT_CONTEXT,
  type Span,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { BasicTracerProvider, BatchSpanProcessor, type ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { managedSpan, SpanRegistry, traceFn, withSpan } from 'nest-lens/core';
import { captureWarnings, type CapturedWarnings } from '../support/capture-warnings.js';
import { KeepingExporter } from '../support/keeping-exporter.js';
import { setUpForTest } from '../support/live-telemetry.js';
import { removeTelemetryVariables } from '../support/telemetry-variables.js';

vi.setConfig({ testTimeout: 30_000 });

let warnings: CapturedWarnings;

beforeEach(() => {
  removeTelemetryVariables();
  warnings = captureWarnings();
  SpanRegistry.register('shop', ['orders']);
});

/** Work that goes on until it is told to stop. */
function workUnderWay(name: string): { span: Span; finish(): Promise<void> } {
  let finish = (): void => undefined;
  let span!: Span;
  const work = managedSpan('orders', name, (given) => {
    span = given!;
    return new Promise<void>((resolve) => (finish = resolve));
  });
  return {
    span,
    finish: () => {
      finish();
      return work;
    },
  };
}

/** What the SDK says about spans that are touched after their end. */
function listenToSdk(): string[] {
  const said: string[] = [];
  const say = (...parts: unknown[]): void => void said.push(parts.map(String).join(' '));
  diag.setLogger(
    { error: say, warn: say, info: say, debug: say, verbose: say },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  return said;
}

function expectTruncated(span: ReadableSpan): void {
  expect(span.attributes['nestlens.truncated']).toBe(true);
  expect(span.status.code).toBe(SpanStatusCode.UNSET);
  const event = span.events.find(({ name }) => name === 'nestlens.truncated');
  expect(event?.attributes?.reason).toMatch(/shut down/);
  expect(span.ended).toBe(true);
}

describe('spans that are open at shutdown', () => {
  it('H10: are ended newest first and exported, marked as truncated and not as errors', async () => {
    const exporter = new KeepingExporter();
    const handle = await setUpForTest({}, { spanExporter: exporter });
    const outer = workUnderWay('outer');
    const inner = workUnderWay('inner');
    const byHand = trace.getTracer('by hand').startSpan('by hand');
    const newest = workUnderWay('newest');
    managedSpan('orders', 'done', () => undefined);

    await handle.shutdown();

    expect(exporter.names).toEqual(['done', 'newest', 'by hand', 'inner', 'outer']);
    expect(exporter.spans[0]!.attributes).not.toHaveProperty('nestlens.truncated');
    for (const span of exporter.spans.slice(1)) expectTruncated(span);
    await Promise.all([outer.finish(), inner.finish(), newest.finish()]);
    byHand.end();
    expect(warnings.codes()).toEqual([]);
  });

  it('H10: may be written to and ended by the application afterwards; the SDK says nothing, the export stays', async () => {
    const exporter = new KeepingExporter();
    const handle = await setUpForTest({}, { spanExporter: exporter });
    const work = workUnderWay('work');
    const byHand = handle.tracer.startSpan('by hand');
    const said = listenToSdk();
    await handle.shutdown();
    for (const span of [work.span, byHand]) {
      expect(span.isRecording()).toBe(false);
      span
        .setAttribute('late', 1)
        .setAttributes({ late: 1 })
        .addEvent('late')
        .addLink({ context: span.spanContext() })
        .addLinks([])
        .setStatus({ code: SpanStatusCode.ERROR })
        .updateName('late');
      span.recordException(new Error('late'));
      span.end();
    }
    await work.finish();
    expect(said).toEqual([]);
    expect(exporter.names).toEqual(['by hand', 'work']);
    for (const span of exporter.spans) {
      expectTruncated(span);
      expect(span.attributes).not.toHaveProperty('late');
    }
  });

  it('H10: of work that fails after the shutdown stay what they were when they were exported', async () => {
    const exporter = new KeepingExporter();
    const handle = await setUpForTest({}, { spanExporter: exporter });
    let fail = (_reason: Error): void => undefined;
    const work = withSpan('work', () => new Promise<void>((_, reject) => (fail = reject)));
    await handle.shutdown();
    fail(new Error('too late'));
    await expect(work).rejects.toThrow('too late');
    expect(exporter.names).toEqual(['work']);
    expectTruncated(exporter.spans[0]!);
  });

  it('H10: started while the shutdown flushes are exported too', async () => {
    let finish = (): void => undefined;
    let duringFlush: Promise<void> | undefined;
    class SlowExporter extends KeepingExporter {
      override export(spans: ReadableSpan[], done: (result: { code: number }) => void): void {
        // The SDK exports in a context in which nothing is traced.
        duringFlush ??= context.with(ROOT_CONTEXT, () =>
          withSpan('during the flush', () => new Promise<void>((resolve) => (finish = resolve))),
        );
        setImmediate(() => super.export(spans, done));
      }
    }
    const exporter = new SlowExporter();
    const handle = await setUpForTest({}, { spanExporter: exporter });
    managedSpan('orders', 'done', () => undefined);
    await handle.shutdown();
    finish();
    await duringFlush;
    expect(exporter.names).toEqual(['done', 'during the flush']);
    expectTruncated(exporter.spans[1]!);
  });

  it('H10: reach the collector that only the variables of the SDK name', async () => {
    const received: any[] = [];
    const collector = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        for (const { scopeSpans } of JSON.parse(body).resourceSpans ?? [])
          received.push(...scopeSpans.flatMap(({ spans }: any) => spans));
        response.setHeader('content-type', 'application/json').end('{}');
      });
    }).listen(0, '127.0.0.1');
    await once(collector, 'listening');
    process.env.OTEL_EXPORTER_OTLP_PROTOCOL = 'http/json';
    process.env.OTEL_EXPORTER_OTLP_ENDPOINT = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
    const handle = await setUpForTest({ exporter: 'otlp' });
    const outer = workUnderWay('outer');
    const byHand = handle.tracer.startSpan('by hand');
    await handle.shutdown();
    collector.closeAllConnections();
    await new Promise((resolve) => collector.close(resolve));
    await outer.finish();
    byHand.end();
    expect(received.map(({ name }) => name)).toEqual(['by hand', 'outer']);
    for (const span of received) {
      expect(span.attributes).toContainEqual({ key: 'nestlens.truncated', value: { boolValue: true } });
      expect(span.events.map(({ name }: any) => name)).toEqual(['nestlens.truncated']);
    }
    expect(warnings.codes()).toEqual([]);
  });

  it('H6, H10: of a provider of the application: those of NestLens are ended, the others are not ours', async () => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    const exporter = new KeepingExporter();
    const provider = new BasicTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] });
    trace.setGlobalTracerProvider(provider);
    const handle = await setUpForTest();
    expect(handle.mode).toBe('attach');
    const work = workUnderWay('work');
    const foreign = trace.getTracer('by hand').startSpan('foreign');
    await handle.shutdown();
    expect(exporter.names).toEqual(['work']);
    expectTruncated(exporter.spans[0]!);
    expect(foreign.isRecording()).toBe(true);
    foreign.end();
    await work.finish();
    await provider.shutdown();
    expect(exporter.names).toEqual(['work', 'foreign']);
    expect(exporter.spans[1]!.attributes).not.toHaveProperty('nestlens.truncated');
  });

  it('H10: of a provider of the application: one that it has ended itself is not touched again', async () => {
    const exporter = new KeepingExporter();
    const provider = new BasicTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] });
    trace.setGlobalTracerProvider(provider);
    const handle = await setUpForTest();
    const work = workUnderWay('work');
    const said = listenToSdk();
    work.span.end();
    await handle.shutdown();
    await work.finish();
    await provider.shutdown();
    expect([exporter.names, said]).toEqual([['work'], []]);
    expect(exporter.spans[0]!.attributes).not.toHaveProperty('nestlens.truncated');
  });

  it('H10: at which a processor throws cost a warning; all are exported', async () => {
    const exporter = new KeepingExporter();
    const handle = await setUpForTest(
      {},
      {
        spanExporter: exporter,
        spanProcessors: [
          {
            onStart: () => undefined,
            onEnd: ({ name }: { name: string }) => {
              if (name === 'bad') throw new Error('broken processor');
            },
            forceFlush: () => Promise.resolve(),
            shutdown: () => Promise.resolve(),
          },
        ],
      },
    );
    const works = ['first', 'bad', 'last'].map(workUnderWay);
    await handle.shutdown();
    await Promise.all(works.map((work) => work.finish()));
    expect(exporter.names).toEqual(['last', 'bad', 'first']);
    expect(warnings.codes()).toEqual(['SPAN_FAILED']);
  });

  it('H10: are all gone with it: a second set-up exports none of them', async () => {
    const first = await setUpForTest({}, { spanExporter: new KeepingExporter() });
    const work = workUnderWay('work');
    await first.shutdown();
    const exporter = new KeepingExporter();
    const second = await setUpForTest({}, { spanExporter: exporter });
    await work.finish();
    await second.shutdown();
    expect(exporter.names).toEqual([]);
  });

  it('H10: are kept in a bounded number, so that promises that never settle cost no memory', async () => {
    const exporter = new KeepingExporter();
    const handle = await setUpForTest({}, { spanExporter: exporter });
    const never = traceFn('orders', 'never')(() => new Promise<void>(() => undefined));
    for (let i = 0; i < 12_000; i++) void never();
    const { inFlight } = (globalThis as any)[Symbol.for('nest-lens.state.1')];
    expect(inFlight.count).toBe(10_000);
    await handle.shutdown();
    expect(inFlight.count).toBe(0);
    expect(inFlight.ring.older).toBe(inFlight.ring);
  });

  it('H10: and spans that ended are forgotten at once', async () => {
    const handle = await setUpForTest({}, { spanExporter: new KeepingExporter() });
    const { inFlight } = (globalThis as any)[Symbol.for('nest-lens.state.1')];
    for (let i = 0; i < 100; i++) {
      managedSpan('orders', 'sync', () => undefined);
      await managedSpan('orders', 'async', async () => undefined);
      handle.tracer.startSpan('by hand').end();
    }
    expect([inFlight.count, inFlight.others.size]).toEqual([0, 0]);
  });
});
