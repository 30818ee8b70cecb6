import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { context, diag, trace } from '@opentelemetry/api';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { BatchSpanProcessor, type ReadableSpan, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import {
  managedSpan,
  type SetupOptions,
  type SpanProcessorLike,
  SpanRegistry,
  traceFn,
} from 'nest-lens/core';
import { type OtlpReceiver, startGrpcReceiver, startReceiver } from '../../support/otlp-receiver.js';
import { captureWarnings, type CapturedWarnings } from '../../support/capture-warnings.js';
import { KeepingExporter } from '../../support/keeping-exporter.js';
import { setUpForTest } from '../../support/live-telemetry.js';
import { removeTelemetryVariables } from '../../support/telemetry-variables.js';

// The first set-up loads the SDK and everything it brings.
vi.setConfig({ testTimeout: 30_000 });

type Done = (result: { code: number; error?: Error }) => void;

let warnings: CapturedWarnings;

beforeEach(() => {
  removeTelemetryVariables();
  process.env.OTEL_LOGS_EXPORTER = 'none';
  warnings = captureWarnings();
  SpanRegistry.register('shop', ['orders']);
  // The SDK says at length what it couldn't export.
  diag.disable();
});

afterEach(() => {
  vi.restoreAllMocks();
});

const work = (name: string): void => managedSpan('orders', name, () => undefined);

async function until(isSo: () => boolean): Promise<void> {
  for (let waited = 0; !isSo(); waited++) {
    expect(waited).toBeLessThan(10_000);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/** Answers when the test says so. */
class HeldExporter extends KeepingExporter {
  private readonly held: (() => void)[] = [];

  override export(spans: ReadableSpan[], done: Done): void {
    this.calls.push('export');
    this.held.push(() => {
      this.calls.push('exported');
      this.spans.push(...spans);
      done({ code: 0 });
    });
  }

  get isExporting(): boolean {
    return this.held.length > 0;
  }

  answer(): void {
    for (const answer of this.held.splice(0)) answer();
  }
}

/** The exporter behind a batch processor that sends a batch at once: the SDK's, and one that the application has made. */
const PIPELINES: [string, (exporter: KeepingExporter) => SetupOptions][] = [
  ['a given exporter', (spanExporter) => ({ spanExporter })],
  [
    'the exporter of a given processor',
    (exporter) => ({ spanProcessors: [new BatchSpanProcessor(exporter, { scheduledDelayMillis: 1 })] }),
  ],
];

describe('a batch that is on its way', () => {
  beforeEach(() => {
    process.env.OTEL_BSP_SCHEDULE_DELAY = '1';
  });

  it.each(PIPELINES)('H8: to %s is waited for by forceFlush', async (_, pipeline) => {
    const exporter = new HeldExporter();
    const handle = await setUpForTest({}, pipeline(exporter));
    work('place');
    await until(() => exporter.isExporting);
    const flushed = handle.forceFlush().then(() => exporter.calls.push('flushed'));
    await new Promise((resolve) => setImmediate(resolve));
    exporter.answer();
    await flushed;
    expect(exporter.calls).toEqual(['export', 'exported', 'flushed']);
    await handle.shutdown();
    expect(warnings.codes()).toEqual([]);
  });

  it.each(PIPELINES)('H9: to %s has arrived before that is shut down', async (_, pipeline) => {
    const exporter = new HeldExporter();
    const handle = await setUpForTest({}, pipeline(exporter));
    work('place');
    await until(() => exporter.isExporting);
    const stopped = handle.shutdown();
    await new Promise((resolve) => setImmediate(resolve));
    exporter.answer();
    await stopped;
    expect([exporter.names, exporter.calls]).toEqual([['place'], ['export', 'exported', 'shutdown']]);
    expect(warnings.codes()).toEqual([]);
  });

  it.each(PIPELINES)('H9: to %s and fails then is one warning, which says why', async (_, pipeline) => {
    const dones: Done[] = [];
    class FailingExporter extends KeepingExporter {
      override export(_spans: ReadableSpan[], done: Done): void {
        dones.push(done);
      }
    }
    const handle = await setUpForTest({}, pipeline(new FailingExporter()));
    work('place');
    await until(() => dones.length > 0);
    const stopped = handle.shutdown();
    for (const done of dones) done({ code: 1, error: new Error('the collector is away') });
    await stopped;
    expect(warnings.codes()).toEqual(['FLUSH_INCOMPLETE']);
    expect(warnings.single('FLUSH_INCOMPLETE').message).toContain('the collector is away');
  });

  it.each(PIPELINES)('H9: to %s that never answers costs the limit, and no shutdown', async (_, pipeline) => {
    const exporter = new HeldExporter();
    const handle = await setUpForTest({}, pipeline(exporter));
    work('place');
    await until(() => exporter.isExporting);
    await handle.shutdown(50);
    await until(() => exporter.calls.length > 1);
    expect([exporter.calls, warnings.codes()]).toEqual([['export', 'shutdown'], ['FLUSH_INCOMPLETE']]);
    exporter.answer();
    expect(warnings.codes()).toEqual(['FLUSH_INCOMPLETE']);
  });

  it('H8: is waited for no longer than the SDK waits by default: a lost callback does not cost every flush its limit', async () => {
    const timers = vi.spyOn(globalThis, 'setTimeout');
    const exporter = new HeldExporter();
    const handle = await setUpForTest({}, { spanExporter: exporter });
    work('lost');
    await until(() => exporter.isExporting);
    for (const [callback, milliseconds] of timers.mock.calls) if (milliseconds === 30_000) callback();
    await handle.forceFlush(60_000);
    expect(warnings.codes()).toEqual(['EXPORT_FAILED']);
    exporter.answer();
  });

  const protocols = ['http/protobuf', 'http/json', 'grpc'];
  it.each(protocols)('H8: by %s is waited for, and said to be missing when it is', async (protocol) => {
    const receiver = await (protocol === 'grpc' ? startGrpcReceiver() : startReceiver());
    receiver.misbehaves = 'never answers';
    process.env.OTEL_EXPORTER_OTLP_ENDPOINT = receiver.url;
    process.env.OTEL_EXPORTER_OTLP_PROTOCOL = protocol;
    process.env.OTEL_EXPORTER_OTLP_TIMEOUT = '1000';
    const handle = await setUpForTest({ exporter: 'otlp' });
    work('place');
    await until(() => receiver.requests.length > 0);
    await handle.forceFlush(50);
    expect(warnings.codes()).toEqual(['FLUSH_INCOMPLETE']);
    await handle.shutdown(50);
  });

  it.each<[string, (response: ServerResponse) => void]>([
    ['answers 400', (response) => response.writeHead(400).end()],
    ['answers 503', (response) => response.writeHead(503).end()],
    ['resets', (response) => response.socket!.resetAndDestroy()],
  ])('H9: to a collector that %s is one warning at the shutdown', async (_, answer) => {
    const responses: ServerResponse[] = [];
    const server = createServer((request, response) => {
      request.resume();
      responses.push(response);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    process.env.OTEL_EXPORTER_OTLP_ENDPOINT = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    process.env.OTEL_EXPORTER_OTLP_TIMEOUT = '500';
    const handle = await setUpForTest({ exporter: 'otlp' });
    work('place');
    await until(() => responses.length > 0);
    const stopped = handle.shutdown();
    for (const response of responses) answer(response);
    await stopped;
    expect(warnings.codes()).toEqual(['FLUSH_INCOMPLETE']);
    server.closeAllConnections();
    server.close();
  });
});

describe('metrics, at the shutdown', () => {
  const setUp = async (traces: { url: string }) => {
    const receiver = await startReceiver();
    process.env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT = `${traces.url}/v1/traces`;
    process.env.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT = `${receiver.url}/v1/metrics`;
    process.env.OTEL_EXPORTER_OTLP_TIMEOUT = '2000';
    const handle = await setUpForTest({ exporter: 'otlp', metricsEnabled: true });
    handle.meter.createCounter('orders.placed').add(1);
    work('place');
    return { handle, receiver };
  };
  const namesOf = (receiver: OtlpReceiver): string[] => receiver.metrics.map(({ name }) => name);

  it('H9: arrive within the limit, though the collector of spans never answers', async () => {
    const traces = await startReceiver();
    traces.misbehaves = 'never answers';
    const { handle, receiver } = await setUp(traces);
    await handle.shutdown(1_500);
    expect(namesOf(receiver)).toContain('orders.placed');
    expect([traces.requests.length, warnings.codes()]).toEqual([1, ['FLUSH_INCOMPLETE']]);
  });

  it('H9: are exported once, while the collector of spans answers', async () => {
    const traces = await startReceiver();
    const { handle, receiver } = await setUp(traces);
    await handle.shutdown();
    expect([traces.names(), receiver.requests.length, warnings.codes()]).toEqual([['place'], 1, []]);
    expect(namesOf(receiver)).toContain('orders.placed');
  });
});

describe('an exporter', () => {
  it.each<[string, (spans: unknown[], done: Done) => void]>([
    [
      'throws',
      () => {
        throw new Error('token expired');
      },
    ],
    ['rejects', async () => Promise.reject(new Error('token expired'))],
  ])('H12: that %s has failed to export, and the process goes on', async (_, fail) => {
    const exporter = Object.assign(new KeepingExporter(), { export: fail });
    const handle = await setUpForTest({}, { spanExporter: exporter });
    work('place');
    await handle.forceFlush();
    // One cause, one sentence; and again after ten minutes.
    expect(warnings.single('EXPORT_FAILED').message).toContain('token expired');
    work('place');
    await handle.forceFlush();
    expect(warnings.codes()).toEqual(['EXPORT_FAILED']);
    work('place');
    await handle.shutdown();
    expect(warnings.single('FLUSH_INCOMPLETE').message).toContain('token expired');
    expect(warnings.codes()).toEqual(['EXPORT_FAILED', 'FLUSH_INCOMPLETE']);
    expect(exporter.calls).toEqual(['shutdown']);
  });

  it('H9: gets a batch that waits for the resource to be complete, though a close comes first', async () => {
    let complete = (_host: string): void => undefined;
    const host = new Promise<string>((resolve) => (complete = resolve));
    process.env.OTEL_BSP_MAX_EXPORT_BATCH_SIZE = '1';
    const exporter = new KeepingExporter();
    const handle = await setUpForTest({}, { spanExporter: exporter, resourceAttributes: { host } as never });
    delete process.env.OTEL_BSP_MAX_EXPORT_BATCH_SIZE;
    work('place'); // taken out of the queue at once
    await new Promise((resolve) => setImmediate(resolve));
    const closed = handle.shutdown();
    setTimeout(() => complete('shop-1'), 20);
    await closed;
    expect([exporter.names, warnings.codes()]).toEqual([['place'], []]);
  });

  it('H12: that calls back with nothing has failed to export, and a second call is nothing', async () => {
    const exporter = Object.assign(new KeepingExporter(), {
      export: (_: unknown, done: (result?: unknown) => void) => {
        done();
        done({ code: 0 });
      },
    });
    const handle = await setUpForTest({}, { spanExporter: exporter });
    work('place');
    await handle.shutdown();
    expect([warnings.codes(), exporter.calls]).toEqual([['FLUSH_INCOMPLETE'], ['shutdown']]);
  });

  it('H9: is shut down although the last flush of its processor fails', async () => {
    class FailingLater extends HeldExporter {
      override export(spans: ReadableSpan[], done: Done): void {
        if (this.calls.includes('exported')) done({ code: 1, error: new Error('the collector is away') });
        else super.export(spans, done);
      }
    }
    const exporter = new FailingLater();
    const handle = await setUpForTest({}, { spanExporter: exporter });
    work('place');
    const stopped = handle.shutdown();
    await until(() => exporter.isExporting);
    trace.getTracer('by hand').startSpan('ends between the flush and the shutdown').end();
    exporter.answer();
    await stopped;
    expect([exporter.calls.at(-1), warnings.codes()]).toEqual(['shutdown', ['FLUSH_INCOMPLETE']]);
  });
});

const QUIET = {
  onStart: () => undefined,
  onEnding: () => undefined,
  onEnd: () => undefined,
  forceFlush: () => Promise.resolve(),
  shutdown: () => Promise.resolve(),
};
const boom = (): never => {
  throw new Error('broken');
};
const reject = async (): Promise<never> => boom();

describe('a given processor', () => {
  it.each<[string, Partial<typeof QUIET>, string]>([
    ['throws in onStart', { onStart: boom }, 'SPAN_FAILED'],
    ['throws in onEnding', { onEnding: boom }, 'SPAN_FAILED'],
    ['throws in onEnd', { onEnd: boom }, 'SPAN_FAILED'],
    ['rejects in onStart', { onStart: reject as never }, 'SPAN_FAILED'],
    ['rejects in onEnd', { onEnd: reject as never }, 'SPAN_FAILED'],
    ['throws in forceFlush', { forceFlush: boom }, 'FLUSH_INCOMPLETE'],
    ['rejects in forceFlush', { forceFlush: reject }, 'FLUSH_INCOMPLETE'],
    ['throws in shutdown', { shutdown: boom }, 'FLUSH_INCOMPLETE'],
    ['rejects in shutdown', { shutdown: reject }, 'FLUSH_INCOMPLETE'],
  ])('H9, H12: that %s costs one warning, and the others nothing', async (how, methods, code) => {
    const broken: SpanProcessorLike = { ...QUIET, ...methods };
    const slow = new HeldExporter();
    const simple = new KeepingExporter();
    const metricExporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
    const metricReader = new PeriodicExportingMetricReader({
      exporter: metricExporter,
      exportIntervalMillis: 60_000,
    });
    const metricsEnd = vi.spyOn(metricExporter, 'shutdown');
    const spanProcessors = [
      broken,
      new SimpleSpanProcessor(simple) as SpanProcessorLike,
      new BatchSpanProcessor(slow) as SpanProcessorLike,
    ];
    const handle = await setUpForTest({ metricsEnabled: true }, { spanProcessors, metricReader });
    // A failure is said once for each name.
    const name = `of one that ${how}`;
    work(name);
    const stopped = handle.shutdown();
    await until(() => slow.isExporting);
    slow.answer();
    await stopped;
    expect([slow.names, simple.names]).toEqual([[name], [name]]);
    expect([slow.calls, simple.calls.at(-1)]).toEqual([['export', 'exported', 'shutdown'], 'shutdown']);
    expect(metricsEnd).toHaveBeenCalledTimes(1);
    expect(warnings.codes()).toEqual([code]);
  });
});

describe('a given metric reader', () => {
  it.each(['forceFlush', 'shutdown'] as const)(
    'H8, H9: that throws in %s costs one warning, and the spans nothing',
    async (method) => {
      const exporter = new KeepingExporter();
      const metricReader = new PeriodicExportingMetricReader({
        exporter: new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE),
        exportIntervalMillis: 60_000,
      });
      const end = metricReader.shutdown.bind(metricReader);
      metricReader[method] = boom;
      const handle = await setUpForTest({ metricsEnabled: true }, { spanExporter: exporter, metricReader });
      work('place');
      if (method === 'forceFlush') await handle.forceFlush();
      await handle.shutdown();
      await end();
      expect([exporter.names, exporter.calls.at(-1)]).toEqual([['place'], 'shutdown']);
      expect(warnings.codes()).toEqual(['FLUSH_INCOMPLETE']);
    },
  );
});

describe('an exporter behind a processor of the application', () => {
  /** A processor that knows its exporter better than the SDK does. */
  class NotingProcessor extends BatchSpanProcessor {
    override onEnd(span: ReadableSpan): void {
      const { _exporter: exporter } = this as unknown as { _exporter: NotingExporter };
      exporter.note(span.name);
      super.onEnd(span);
    }
  }
  class NotingExporter extends KeepingExporter {
    readonly #noted: string[] = [];
    note(name: string): void {
      this.#noted.push(name);
    }
    get noted(): readonly string[] {
      return this.#noted;
    }
  }

  it('H12: stays the one that the processor knows', async () => {
    const exporter = new NotingExporter();
    const handle = await setUpForTest({}, { spanProcessors: [new NotingProcessor(exporter)] });
    work('place');
    await handle.shutdown();
    expect([exporter.noted, exporter.names]).toEqual([['place'], ['place']]);
    expect(warnings.codes()).toEqual([]);
  });

  it('H1: has its own methods back after each set-up, and is shut down once in each', async () => {
    const exporter = new KeepingExporter();
    const methods = () => [exporter.export, exporter.shutdown, Object.keys(exporter).sort()];
    const before = methods();
    for (let round = 1; round <= 3; round++) {
      const handle = await setUpForTest({}, { spanProcessors: [new SimpleSpanProcessor(exporter)] });
      work(`round ${round}`);
      await handle.shutdown();
      await new Promise((resolve) => setImmediate(resolve));
      expect(methods()).toEqual(before);
      expect(exporter.calls.filter((call) => call === 'shutdown')).toHaveLength(round);
    }
    expect(exporter.names).toEqual(['round 1', 'round 2', 'round 3']);
  });

  it('H9: given as the exporter as well, is shut down once', async () => {
    const exporter = new KeepingExporter();
    const spanProcessors = [new SimpleSpanProcessor(exporter)];
    const handle = await setUpForTest({}, { spanExporter: exporter, spanProcessors });
    await handle.shutdown();
    expect(exporter.calls.filter((call) => call === 'shutdown')).toHaveLength(1);
  });
});

describe("an application's own provider", () => {
  it('H6, H9: whose forceFlush throws breaks no shutdown, and is one warning', async () => {
    const provider = {
      getTracer: () => trace.getTracer('unused'),
      forceFlush: () => {
        throw new Error('not today');
      },
    };
    trace.setGlobalTracerProvider(provider);
    try {
      const handle = await setUpForTest({}, { mode: 'attach' });
      await handle.shutdown();
      expect(warnings.codes()).toEqual(['FLUSH_INCOMPLETE']);
    } finally {
      trace.disable();
    }
  });
});

describe('exporter console', () => {
  it('H1: prints nothing after its shutdown, whoever still has its tracer', async () => {
    const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    const handle = await setUpForTest({ exporter: 'console' });
    const tracer = trace.getTracer('kept');
    tracer.startSpan('before').end();
    await handle.shutdown();
    tracer.startSpan('after').end();
    const printed = write.mock.calls.map(([text]) => String(text)).join('');
    expect(printed).toContain('"name":"before"');
    expect(printed).not.toContain('"name":"after"');
  });

  it('H14: makes no span of its own while it exports, though process.stdout is traced', async () => {
    const printed: string[] = [];
    vi.spyOn(process.stdout, 'write').mockImplementation(
      traceFn(
        'orders',
        'write',
      )((text: unknown) => {
        printed.push(String(text));
        return true;
      }),
    );
    const handle = await setUpForTest({ exporter: 'console' });
    work('place');
    await handle.shutdown();
    expect(printed.map((line) => JSON.parse(line).name)).toEqual(['place']);
  });

  it('H14: prints each span once, though console.log is a queue that a traced function empties', async () => {
    const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    const waiting: unknown[] = [];
    vi.spyOn(console, 'log').mockImplementation((line) => void waiting.push(line));
    const empty = traceFn('orders', 'transport')(() => void waiting.shift());
    const handle = await setUpForTest({ exporter: 'console' });
    work('place');
    for (let round = 0; round < 5 && waiting.length > 0; round++) empty();
    await handle.shutdown();
    expect(write.mock.calls.map(([line]) => JSON.parse(String(line)).name)).toEqual(['place']);
  });

  it("H14: prints through a test's own process.stdout.write, though an earlier test has used fake timers", async () => {
    const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    const handle = await setUpForTest({ exporter: 'console' });
    const inTurns = async (turns: number): Promise<void> => {
      for (let turn = 0; turn < turns; turn++) {
        for (let call = 0; call < 600; call++) work('place');
        await new Promise((resolve) => nextTurn(resolve));
      }
    };
    vi.useFakeTimers();
    await inTurns(1);
    vi.useRealTimers();
    await inTurns(2);
    expect(write).toHaveBeenCalledTimes(1_800);
    await handle.shutdown();
  });

  it('H14: prints each span, though process.stdout is an object that has nothing but a function', async () => {
    const printed: string[] = [];
    const stdout = Object.getOwnPropertyDescriptor(process, 'stdout')!;
    const handle = await setUpForTest({ exporter: 'console' });
    Object.defineProperty(process, 'stdout', {
      configurable: true,
      value: { write: (line: string) => printed.push(line) > 0 },
    });
    try {
      for (let call = 0; call < 1_100; call++) work('place');
    } finally {
      Object.defineProperty(process, 'stdout', stdout);
    }
    await handle.shutdown();
    expect([printed.length, warnings.codes()]).toEqual([1_100, []]);
  });

  it('H14: comes to an end, though process.stdout is a queue that a traced function empties until nothing is left', async () => {
    const { code, output, errors } = await runProgram(
      'console',
      `
      const waiting = [];
      const write = process.stdout.write.bind(process.stdout);
      process.stdout.write = (text) => waiting.push(text) > 0;
      const empty = traceFn('orders', 'empty')(() => write(waiting.shift()));
      managedSpan('orders', 'place', () => undefined);
      while (waiting.length > 0) empty();
      await new Promise(setImmediate);
      managedSpan('orders', 'later', () => undefined);
      write(waiting.shift());`,
    );
    const names = output.match(/(?<="name":")\w+/g)!;
    expect([code, errors, names[0], new Set(names.slice(1, -1)), names.at(-1)]).toEqual([
      0,
      '',
      'place',
      new Set(['empty']),
      'later',
    ]);
  });
});

describe.each(['console', 'tree'])('exporter %s', (name) => {
  it('H12: prints a span whatever is its name, and whenever the application says that it started', async () => {
    const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    const handle = await setUpForTest({ exporter: name as 'tree' });
    trace
      .getTracer('odd')
      .startSpan(7 as never, { startTime: [Number.NaN, 0] })
      .end();
    await handle.shutdown();
    expect([write.mock.calls.length, warnings.codes()]).toEqual([1, []]);
  });

  it('H14: survives a pipe that nobody reads any more', async () => {
    const { code, errors } = await runProgram(
      name,
      `
      await new Promise((resolve) => process.stdin.once('data', resolve));
      for (let i = 0; i < 3; i++) {
        managedSpan('orders', 'place', () => undefined);
        await new Promise(setImmediate);
      }`,
      (child) => {
        child.stdout.destroy();
        child.stdin.end('go');
      },
    );
    expect([code, errors]).toEqual([0, '']);
  });
});

describe('exporter tree', () => {
  it('H14: makes no span of its own when it prints what is left, though process.stdout is traced', async () => {
    const isTraced: boolean[] = [];
    vi.spyOn(process.stdout, 'write').mockImplementation(() => {
      trace.getTracer('stdout').startActiveSpan('write', (span) => {
        isTraced.push(span.isRecording());
        span.end();
      });
      return true;
    });
    const handle = await setUpForTest({ exporter: 'tree' });
    const missing = trace.wrapSpanContext({ traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), traceFlags: 1 });
    context.with(trace.setSpan(context.active(), missing), () => work('place'));
    expect(isTraced).toEqual([]);
    await handle.shutdown();
    expect(isTraced).toEqual([false]);
  });
});

/** Runs a program in a process of its own, between a set-up and its shutdown. */
async function runProgram(
  exporter: string,
  work: string,
  use: (child: ChildProcessWithoutNullStreams) => void = () => undefined,
): Promise<{ code: number; output: string; errors: string }> {
  const program = `
    const { managedSpan, nestLensConfigFromEnv, setupTelemetry, SpanRegistry, traceFn } = require('nest-lens/core');
    SpanRegistry.register('shop', ['orders']);
    const config = { ...nestLensConfigFromEnv({ env: {} }), exporter: '${exporter}', spanGroups: 'all', metricsEnabled: false };
    setupTelemetry({ ...config, enabled: true }).then(async (handle) => {
      ${work}
      await handle.shutdown();
      process.exit(0);
    });`;
  const child = spawn(process.execPath, ['-e', program], { timeout: 20_000 });
  let output = '';
  let errors = '';
  child.stdout.on('data', (text) => (output += String(text)));
  child.stderr.on('data', (text) => (errors += String(text)));
  use(child);
  const [code] = (await once(child, 'exit')) as [number];
  return { code, output, errors };
}

describe('a given processor', () => {
  it.each(['onStart', 'onEnding', 'onEnd'] as const)(
    'H14: whose %s is traced is called once a span',
    async (hook) => {
      const called: string[] = [];
      const note = traceFn('orders', 'hook')((span: { name: string }) => void called.push(span.name));
      const processor = {
        onStart: () => undefined,
        onEnd: () => undefined,
        forceFlush: () => Promise.resolve(),
        shutdown: () => Promise.resolve(),
        [hook]: note,
      };
      const handle = await setUpForTest({}, { spanProcessors: [processor] });
      work('place');
      await handle.shutdown();
      expect(called).toEqual(['place']);
    },
  );
});

describe('a given exporter', () => {
  it.each<[string, (exporter: KeepingExporter) => SetupOptions]>([
    ['behind the processor of the SDK', (spanExporter) => ({ spanExporter })],
    ['behind a processor that suppresses nothing', (exporter) => ({ spanProcessors: [direct(exporter)] })],
  ])('H14: %s makes no span of its own while it exports', async (_, options) => {
    const exporter = new KeepingExporter();
    const send = exporter.export.bind(exporter);
    exporter.export = (spans, done) => {
      trace.getTracer('http').startSpan('POST').end();
      managedSpan('orders', 'send', () => setImmediate(() => work('later in the export')));
      send(spans, done);
    };
    const handle = await setUpForTest({}, options(exporter));
    work('place');
    await handle.forceFlush();
    await new Promise((resolve) => setTimeout(resolve, 5));
    await handle.shutdown();
    expect(exporter.names).toEqual(['place']);
  });

  it('H14: makes no span of its own while it is flushed and shut down', async () => {
    const isTraced: boolean[] = [];
    const send = (): Promise<void> => {
      const span = trace.getTracer('http').startSpan('POST');
      isTraced.push(span.isRecording());
      span.end();
      return Promise.resolve();
    };
    const exporter = Object.assign(new KeepingExporter(), { forceFlush: send, shutdown: send });
    const handle = await setUpForTest({}, { spanExporter: exporter });
    work('place');
    await handle.shutdown();
    expect([exporter.names, new Set(isTraced)]).toEqual([['place'], new Set([false])]);
  });

  /** Exports each span as it ends, as a simple processor of an application's own may. */
  function direct(exporter: KeepingExporter): SpanProcessorLike {
    return {
      onStart: () => undefined,
      onEnd(this: { _exporter: KeepingExporter }, span: ReadableSpan) {
        this._exporter.export([span], () => undefined);
      },
      forceFlush: () => Promise.resolve(),
      shutdown: () => exporter.shutdown(),
      _exporter: exporter,
    } as SpanProcessorLike;
  }
});
