import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nestLensConfigFromEnv, setupTelemetry, SpanRegistry, type TelemetryHandle } from 'nest-lens/core';
import { captureSpans, resetNestLens } from 'nest-lens/testing';
import { StockService } from './stock.service.js';

// With `--no-isolate` this file shares its process, the modules and the registry with the others.
describe('a file that may share its process', () => {
  let telemetry: TelemetryHandle;

  // #region shared-process
  beforeEach(() => {
    resetNestLens();
    SpanRegistry.register('shop', ['stock']); // what modules register at import is gone: they aren't imported again
  });

  afterEach(() => telemetry.shutdown());
  // #endregion

  it.each(['one', 'two'])('starts from nothing: %s', async (product) => {
    const captured = captureSpans();
    const config = {
      ...nestLensConfigFromEnv({ env: {} }),
      enabled: true,
      spanGroups: 'stock',
      metricsEnabled: false,
    };
    telemetry = await setupTelemetry(config, { spanProcessors: [captured.spanProcessor] });
    new StockService().take(product);
    await telemetry.forceFlush();
    expect(
      captured
        .spans()
        .map(({ name }) => name)
        .sort(),
    ).toEqual(['StockService.take', 'stock.take']);
  });
});
