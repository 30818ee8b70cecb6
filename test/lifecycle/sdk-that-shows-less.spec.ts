import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { diag } from '@opentelemetry/api';
import { KeepingExporter } from '../support/keeping-exporter.js';

// SDK 3.x doesn't hand on the packages that it is made of.
const { NodeSDK, startNodeSDK } = await import('@opentelemetry/sdk-node');
jest.unstable_mockModule('@opentelemetry/sdk-node', () => ({ NodeSDK, startNodeSDK }));
const { managedSpan, SpanRegistry } = await import('nest-lens/core');
const { setUpForTest } = await import('../support/live-telemetry.js');

jest.setTimeout(30_000);

const KEEPING = {
  onStart: () => undefined,
  forceFlush: async () => undefined,
  shutdown: async () => undefined,
};

describe('with an SDK that hands on nothing but NodeSDK', () => {
  let savedLevel: string | undefined;
  beforeEach(() => {
    savedLevel = process.env.OTEL_LOG_LEVEL;
    process.env.OTEL_LOGS_EXPORTER = 'none';
    SpanRegistry.register('shop', ['orders']);
    diag.disable();
  });
  afterEach(() => {
    jest.restoreAllMocks();
    delete process.env.OTEL_LOGS_EXPORTER;
    delete process.env.OTEL_LOG_LEVEL;
    if (savedLevel !== undefined) process.env.OTEL_LOG_LEVEL = savedLevel;
  });

  it('H2: OTEL_LOG_LEVEL registers one logger a set-up, so that none complains of another', async () => {
    process.env.OTEL_LOG_LEVEL = 'error';
    const setLogger = jest.spyOn(diag, 'setLogger');
    for (let round = 1; round <= 2; round++) {
      const handle = await setUpForTest();
      expect(setLogger).toHaveBeenCalledTimes(round);
      await handle.shutdown();
    }
    expect(process.env.OTEL_LOG_LEVEL).toBe('error');
  });

  it('H7: an exporter and processors that are given all receive every span', async () => {
    const spanExporter = new KeepingExporter();
    const ended: string[] = [];
    const processor = { ...KEEPING, onEnd: ({ name }: { name: string }) => void ended.push(name) };
    const handle = await setUpForTest({}, { spanExporter, spanProcessors: [processor] });
    managedSpan('orders', 'place', () => undefined);
    await handle.shutdown();
    expect([spanExporter.names, ended]).toEqual([['place'], ['place']]);
    expect(spanExporter.spans[0]!.resource.attributes).toMatchObject({ 'telemetry.sdk.language': 'nodejs' });
  });
});
