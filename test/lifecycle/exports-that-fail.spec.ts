import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { managedSpan, SpanRegistry } from 'nest-lens/core';
import type { ExportCounts } from '../../src/core/state/telemetry-state.js';
import { captureWarnings, type CapturedWarnings } from '../support/capture-warnings.js';
import { KeepingExporter } from '../support/keeping-exporter.js';
import { setUpForTest } from '../support/live-telemetry.js';
import { startGrpcReceiver, startReceiver } from '../support/otlp-receiver.js';
import { removeTelemetryVariables } from '../support/telemetry-variables.js';

vi.setConfig({ testTimeout: 60_000 });

let warnings: CapturedWarnings;
const servers: Server[] = [];

beforeEach(() => {
  removeTelemetryVariables();
  Object.assign(process.env, {
    OTEL_LOGS_EXPORTER: 'none',
    // Each span is a batch.
    OTEL_BSP_SCHEDULE_DELAY: '1',
    OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '1',
  });
  SpanRegistry.register('shop', ['orders']);
  warnings = captureWarnings();
});

afterEach(() => {
  vi.restoreAllMocks();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** A collector that answers with a status, which can be changed. */
async function startAnswering(status: number): Promise<{ url: string; status: number }> {
  const collector = { url: '', status };
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(collector.status).end();
  }).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  collector.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return collector;
}

const counts = (): ExportCounts =>
  (globalThis as Record<symbol, any>)[Symbol.for('nest-lens.state.1')].telemetry.exports;

const work = (name: string): void => managedSpan('orders', name, () => undefined);

/** Makes a span, and waits until it is known what became of it. */
async function exportOne(): Promise<void> {
  const { spansExported, spansLost } = counts();
  work('place');
  while (counts().spansExported + counts().spansLost === spansExported + spansLost) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

describe('exports that fail while the application runs', () => {
  it('H14: are said once, again after ten minutes while it goes on, and once when they work again', async () => {
    const collector = await startAnswering(401);
    process.env.OTEL_EXPORTER_OTLP_ENDPOINT = collector.url;
    const handle = await setUpForTest({ exporter: 'otlp' });
    const began = performance.now();
    const clock = vi.spyOn(performance, 'now');

    for (const minutes of [0, 1, 9]) {
      clock.mockReturnValue(began + minutes * 60_000);
      await exportOne();
    }
    expect(warnings.take()).toEqual(['EXPORT_FAILED']);
    const { message } = warnings.single('EXPORT_FAILED');
    expect(message).toContain(
      'the collector did not accept the credentials. 1 span is lost so far. Check OTEL_EXPORTER_OTLP_HEADERS',
    );
    expect(message).not.toMatch(/127\.0\.0\.1/);

    clock.mockReturnValue(began + 11 * 60_000);
    await exportOne();
    await exportOne();
    expect(warnings.take()).toEqual(['EXPORT_FAILED']);

    collector.status = 200;
    await exportOne();
    await exportOne();
    expect(warnings.take()).toEqual(['EXPORT_RECOVERED']);
    expect(warnings.single('EXPORT_RECOVERED').details).toEqual({ spansLost: 5 });

    // A collector that comes and goes is no reason to say so each time.
    for (const status of [401, 200, 401, 200]) {
      collector.status = status;
      await exportOne();
    }
    expect(warnings.take()).toEqual([]);
    expect(counts()).toMatchObject({ spansExported: 4, spansLost: 7 });
    clock.mockRestore();
    await handle.shutdown();
    expect(warnings.take()).toEqual([]);
  });

  it.each([
    [403, 'did not accept the credentials'],
    [404, 'does not accept spans'],
    [400, 'rejected the spans'],
  ])('H14: are explained: an answer %d', async (status, reason) => {
    const { url } = await startAnswering(status);
    process.env.OTEL_EXPORTER_OTLP_ENDPOINT = url;
    const handle = await setUpForTest({ exporter: 'otlp' });
    await exportOne();
    await handle.shutdown();
    expect(warnings.single('EXPORT_FAILED').message).toContain(reason);
  });

  it.each([
    ['http/protobuf', 'http://127.0.0.1:9', 'refused the connection'],
    ['grpc', 'http://127.0.0.1:9', 'refused the connection'],
    ['grpc', 'http://nowhere.invalid:4317', 'host name is not known'],
    ['http/protobuf', 'http://nowhere.invalid:4318', 'host name is not known'],
  ])('H14: are explained: by %s, a collector that is not at %s', async (protocol, endpoint, reason) => {
    process.env.OTEL_EXPORTER_OTLP_ENDPOINT = endpoint;
    process.env.OTEL_EXPORTER_OTLP_PROTOCOL = protocol;
    process.env.OTEL_EXPORTER_OTLP_TIMEOUT = '1500';
    const handle = await setUpForTest({ exporter: 'otlp' });
    await exportOne();
    await handle.shutdown(100);
    const { message } = warnings.single('EXPORT_FAILED');
    expect(message).toContain(reason);
    expect(message).not.toMatch(/127\.0\.0\.1|nowhere/);
  });

  it.each([
    ['a given exporter', false],
    ['an exporter behind a given processor', true],
  ])('H14: are said of %s, with an address in its error left out', async (_, isBehind) => {
    const exporter = new KeepingExporter();
    exporter.export = (_spans, done) =>
      done({
        code: 1,
        error: new Error('no luck at https://user:secret@collector.example:4318/v1 or 10.0.0.1:80'),
      } as never);
    const { SimpleSpanProcessor } = await import('@opentelemetry/sdk-trace-base');
    const options = isBehind
      ? { spanProcessors: [new SimpleSpanProcessor(exporter)] }
      : { spanExporter: exporter };
    const handle = await setUpForTest({}, options);
    await exportOne();
    await handle.shutdown();
    const { message } = warnings.single('EXPORT_FAILED');
    expect(message).toContain('no luck at [address] or [address]');
    expect(message).not.toMatch(/secret|example|10\.0\.0\.1/);
  });

  it('H14: count what a full queue takes no more of', async () => {
    Object.assign(process.env, {
      OTEL_BSP_SCHEDULE_DELAY: '60000',
      OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '10',
      OTEL_BSP_MAX_QUEUE_SIZE: '10',
    });
    const exporter = new KeepingExporter();
    const held: (() => void)[] = [];
    const send = exporter.export.bind(exporter);
    exporter.export = (spans, done) => void held.push(() => send(spans, done));
    const handle = await setUpForTest({}, { spanExporter: exporter });
    for (let i = 0; i < 27; i++) work(`${i}`);
    // Ten are on their way, ten wait.
    expect(counts()).toMatchObject({ spansExported: 0, spansLost: 7, lastExportAt: undefined });
    exporter.export = send;
    const stopped = handle.shutdown();
    for (const release of held) release();
    await new Promise((resolve) => setImmediate(resolve));
    for (const release of held) release();
    await stopped;
    expect(exporter.names).toHaveLength(20);
  });
});

describe('a flush that fails', () => {
  it.each([
    [401, 'Telemetry could not be flushed: the collector did not accept the credentials.'],
    [404, "Telemetry could not be flushed: the collector's address answers, but does not accept spans."],
  ])('H9: says its own cause: an answer %d', async (status, message) => {
    const { url } = await startAnswering(status);
    process.env.OTEL_BSP_SCHEDULE_DELAY = '60000';
    process.env.OTEL_BSP_MAX_EXPORT_BATCH_SIZE = '512';
    process.env.OTEL_EXPORTER_OTLP_ENDPOINT = url;
    const handle = await setUpForTest({ exporter: 'otlp' });
    work('place');
    await handle.shutdown();
    expect(warnings.codes()).toEqual(['FLUSH_INCOMPLETE']);
    expect(warnings.single('FLUSH_INCOMPLETE').message).toContain(message);
    expect(warnings.single('FLUSH_INCOMPLETE').message).not.toContain('shutdownTimeoutMs');
  });

  it.each(['http', 'grpc'])(
    'H9: names the limit, and how to raise it, when the time was up (%s)',
    async (how) => {
      const receiver = await (how === 'grpc' ? startGrpcReceiver() : startReceiver());
      receiver.misbehaves = 'never answers';
      // It goes on trying for that long after the shutdown.
      process.env.OTEL_EXPORTER_OTLP_TIMEOUT = '500';
      process.env.OTEL_BSP_SCHEDULE_DELAY = '60000';
      process.env.OTEL_BSP_MAX_EXPORT_BATCH_SIZE = '512';
      if (how === 'grpc') process.env.OTEL_EXPORTER_OTLP_PROTOCOL = 'grpc';
      process.env.OTEL_EXPORTER_OTLP_ENDPOINT = receiver.url;
      const handle = await setUpForTest({ exporter: 'otlp' });
      work('place');
      await handle.shutdown(150);
      const { message } = warnings.single('FLUSH_INCOMPLETE');
      expect(message).toContain('within 150 ms');
      expect(message).toContain('raise shutdownTimeoutMs');
      // Until the exporter has given up, so that it needs nothing of a file that is over.
      await new Promise((resolve) => setTimeout(resolve, 700));
    },
  );
});
