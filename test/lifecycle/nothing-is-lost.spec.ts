import { describe, expect, it, vi } from 'vitest';
import { shopWithFile } from '../support/shop-with-file.js';

vi.setConfig({ testTimeout: 60_000 });

const EVERYTHING = [
  'OrdersController.list',
  'onModuleDestroy',
  'beforeApplicationShutdown',
  'onApplicationShutdown',
  '(shutdown)',
];

describe('the last spans', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'H9: are exported on %s, those of hooks too, and the process ends by that signal',
    async (signal) => {
      const shop = shopWithFile({});
      await shop.process.get('/orders');
      expect(shop.names()).toEqual([]);
      expect(await shop.process.kill(signal)).toEqual({ code: null, signal });
      expect(shop.names()).toEqual(EVERYTHING);
      expect(shop.process.warnings()).toEqual([]);
    },
  );

  it('H9: are exported on app.close(), after which the process ends by itself', async () => {
    const shop = shopWithFile({});
    await shop.process.get('/orders');
    await shop.process.get('/close');
    expect(await shop.process.exited).toEqual({ code: 0, signal: null });
    expect(shop.names()).toEqual(EVERYTHING);
    expect(shop.process.warnings()).toEqual([]);
  });

  it('H9: are exported where the process has nothing left to do, although nobody closes the application', async () => {
    const shop = shopWithFile({ drain: true });
    expect(await shop.process.exited).toEqual({ code: 0, signal: null });
    expect(shop.names()).toEqual(['only work', '(shutdown)']);
    expect(shop.process.warnings()).toEqual([]);
  });

  it.each(['SIGTERM', 'SIGINT'] as const)(
    'H9: are exported on %s when their batch is on its way already, before the exporter is shut down',
    async (signal) => {
      const shop = shopWithFile({ exportTakes: 300 }, { env: { OTEL_BSP_SCHEDULE_DELAY: '1' } });
      await shop.process.get('/orders');
      await shop.process.says(/EXPORTING/);
      expect(shop.names()).toEqual([]);
      expect(await shop.process.kill(signal)).toEqual({ code: null, signal });
      expect([shop.names()[0], shop.names().at(-1)]).toEqual(['OrdersController.list', '(shutdown)']);
      expect(shop.names().sort()).toEqual([...EVERYTHING].sort());
      expect(shop.process.warnings()).toEqual([]);
    },
  );

  it('H9: are exported within the default limit where that of the application is no number', async () => {
    const shop = shopWithFile({ exportTakes: 100, options: { shutdownTimeoutMs: NaN } });
    await shop.process.get('/orders');
    await shop.process.kill('SIGTERM');
    expect([shop.names()[0], shop.names().at(-1)]).toEqual(['OrdersController.list', '(shutdown)']);
    expect(shop.process.warnings()).toEqual([]);
  });

  it('H10: with those that are still open, when a signal comes in the middle of a request', async () => {
    const shop = shopWithFile({});
    const hanging = fetch(`${await shop.process.url()}/hang`).catch(() => undefined);
    await shop.process.says(/HANGING/);
    await shop.process.kill('SIGTERM');
    await hanging;
    const truncated = shop.written().filter(({ attributes }) => attributes?.['nestlens.truncated'] === true);
    expect(truncated.map(({ name }) => name)).toEqual(['OrdersController.hang']);
  });

  it.each(['onModuleDestroy', 'beforeApplicationShutdown', 'onApplicationShutdown'])(
    'H9: are exported when the hook %s of another module throws',
    async (throwIn) => {
      const shop = shopWithFile({ throwIn });
      await shop.process.get('/orders');
      await shop.process.kill('SIGTERM');
      expect(shop.names()).toContain('OrdersController.list');
      expect(shop.names().filter((name) => name === 'OrdersController.list')).toHaveLength(1);
    },
  );

  it('H9: are lost to a signal that nobody listens to, and a warning has said so', async () => {
    const shop = shopWithFile({ noHooks: true });
    await shop.process.get('/orders');
    await shop.process.says(/enableShutdownHooks/);
    expect(await shop.process.kill('SIGTERM')).toEqual({ code: null, signal: 'SIGTERM' });
    expect(shop.process.warnings()).toHaveLength(1);
    expect(shop.names()).toEqual([]);
  });

  it('H6: of an application that runs its own SDK are flushed, and its exporter is not shut down', async () => {
    const shop = shopWithFile({ ownSdk: true, options: { telemetry: { mode: 'attach' } } });
    await shop.process.get('/orders');
    const { telemetry } = JSON.parse(await shop.process.get('/lens/groups')) as { telemetry: unknown };
    expect(telemetry).toEqual({ enabled: true, exporting: true, mode: 'attach' });
    await shop.process.kill('SIGTERM');
    expect(shop.names()).toEqual(EVERYTHING.filter((name) => name !== '(shutdown)'));
    expect(shop.process.warnings()).toEqual([]);
  });

  it('H6: where there is no SDK to attach to, nothing breaks, and one warning says that nothing is exported', async () => {
    const shop = shopWithFile({ options: { telemetry: { mode: 'attach' } } });
    expect(await shop.process.get('/orders')).toBe('["anvil"]');
    const { telemetry } = JSON.parse(await shop.process.get('/lens/groups')) as { telemetry: unknown };
    expect(telemetry).toEqual({ enabled: true, exporting: false, mode: 'attach' });
    expect(await shop.process.kill('SIGTERM')).toEqual({ code: null, signal: 'SIGTERM' });
    expect(shop.process.warnings()).toHaveLength(1);
    expect(shop.process.output).toContain('no tracer provider');
  });
});
