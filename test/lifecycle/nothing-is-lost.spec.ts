import { expect, describe, it, vi } from 'vitest';
import { shopWithFile } from '../support/shop-with-file.js';

// test/docs/end-scenarios.ts proves the rest: signals, `app.close()`, nothing left to do, requests under way, and what is lost.

vi.setConfig({ testTimeout: 60_000 });

const HOOKS = ['onModuleDestroy', 'beforeApplicationShutdown', 'onApplicationShutdown'];

describe('the last spans', () => {
  it('H9: are exported within the default limit where that of the application is no number', async () => {
    const shop = shopWithFile({ exportTakes: 100, options: { shutdownTimeoutMs: NaN } });
    await shop.process.get('/orders');
    await shop.process.kill('SIGTERM');
    expect([shop.names()[0], shop.names().at(-1)]).toEqual(['OrdersController.list', '(shutdown)']);
    expect(shop.process.warnings()).toEqual([]);
  });

  it('H9: are exported on a signal when the first hook of another module throws', async () => {
    const shop = shopWithFile({ throwIn: HOOKS[0] });
    await shop.process.get('/orders');
    await shop.process.kill('SIGTERM');
    expect(shop.names()).toContain('OrdersController.list');
    expect(shop.names().filter((name) => name === 'OrdersController.list')).toHaveLength(1);
  });

  it('H6: of an application that runs its own SDK are flushed, and its exporter is not shut down', async () => {
    const shop = shopWithFile({ ownSdk: true, options: { telemetry: { mode: 'attach' } } });
    await shop.process.get('/orders');
    const { telemetry } = JSON.parse(await shop.process.get('/lens/groups')) as { telemetry: unknown };
    expect(telemetry).toEqual({ enabled: true, exporting: true, mode: 'attach' });
    await shop.process.kill('SIGTERM');
    expect(shop.names()).toEqual(['OrdersController.list', ...HOOKS]);
    expect(shop.process.warnings()).toEqual([]);
  });
});
