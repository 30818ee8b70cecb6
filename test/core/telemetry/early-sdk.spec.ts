import { describe, expect, it, vi } from 'vitest';
import { discardEarlySdk, keepEarlySdk, takeEarlySdk } from '../../../src/core/telemetry/early-sdk.js';
import type { Pipeline } from '../../../src/core/state/telemetry-state.js';
import { compileCore } from '../../support/compiled-core.js';
import { quietConfig } from '../../support/live-telemetry.js';

vi.setConfig({ testTimeout: 30_000 });

/** Notes what it is asked to do. */
function notingPipeline(): Pipeline & { readonly asked: string[] } {
  const asked: string[] = [];
  const note = (what: string) => async () => void asked.push(what);
  return {
    asked,
    isExporting: true,
    exports: undefined,
    flushSpans: note('flush'),
    flushMetrics: note('flush metrics'),
    shutdown: note('shutdown'),
    release: () => void asked.push('release'),
  };
}

/** What happens when a process has nothing left to do, without its end. */
const drain = async (): Promise<void> => {
  process.emit('beforeExit', 0);
  for (let turns = 0; turns < 5; turns++) await new Promise((resolve) => setImmediate(resolve));
};

describe('an SDK that was started early', () => {
  it('H9: ends with the process where no set-up takes it', async () => {
    const pipeline = notingPipeline();
    keepEarlySdk(pipeline, quietConfig(), []);
    await drain();

    expect(pipeline.asked).toEqual(['flush', 'shutdown', 'release']);
    expect(takeEarlySdk()).toBeUndefined();
  });

  it('H9: is left to the set-up that takes it, also when the process has nothing to do for a moment', async () => {
    const pipeline = notingPipeline();
    keepEarlySdk(pipeline, quietConfig(), []);
    expect(takeEarlySdk()).toMatchObject({ isExporting: true });
    await drain();

    expect(pipeline.asked).toEqual([]);
    expect(takeEarlySdk()).toBeUndefined();
  });

  it('H2: that nobody wants is shut down once', async () => {
    const pipeline = notingPipeline();
    keepEarlySdk(pipeline, quietConfig(), []);
    discardEarlySdk();
    await drain();

    expect(pipeline.asked).toEqual(['shutdown', 'release']);
  });

  it('H9: whose export fails says so once, though another copy of the package takes it over', async () => {
    const compiled = await compileCore();
    try {
      const { stdout } = await compiled.run(`
        const early = (file) => import(new URL('core/telemetry/' + file, core));
        const { loadSdk } = await early('load-sdk.js');
        const { startSdk } = await early('start-sdk.js');
        const { keepEarlySdk } = await early('early-sdk.js');
        const lens = await import(copy);
        const codes = [];
        lens.setLensLogger({ warn: (_, { code }) => codes.push(code) });
        lens.SpanRegistry.register('shop', ['orders']);
        const config = { ...lens.nestLensConfigFromEnv({ env: {} }), enabled: true, exporter: 'none', spanGroups: 'all' };
        const spanExporter = {
          export: (_, done) => done({ code: 1, error: new Error('the collector is away') }),
          shutdown: async () => undefined,
        };
        keepEarlySdk(startSdk(await loadSdk(), config, { spanExporter }), config, []);
        const handle = await lens.setupTelemetry(config);
        lens.managedSpan('orders', 'place', () => undefined);
        await handle.forceFlush();
        await handle.shutdown();
        console.log(codes.join());`);
      expect(stdout.trim()).toBe('EXPORT_FAILED');
    } finally {
      await compiled.remove();
    }
  });
});
