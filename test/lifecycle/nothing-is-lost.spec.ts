import { expect, describe, it, vi } from 'vitest';
import { shopWithFile } from '../support/shop-with-file.js';

// test/docs/end-scenarios.ts proves the rest: signals, `app.close()`, nothing left to do, requests under way, and what is lost.

vi.setConfig({ testTimeout: 60_000 });

const HOOKS = ['onModuleDestroy', 'beforeApplicationShutdown', 'onApplicationShutdown'];

async function endWithThrow(): Promise<{ names: string[]; warnings: string[] }> {
  const shop = shopWithFile({ exportTakes: 100, throwIn: HOOKS[0], options: { shutdownTimeoutMs: NaN } });
  await shop.process.get('/orders');
  await shop.process.kill('SIGTERM');
  return { names: shop.names(), warnings: shop.process.warnings() };
}

describe('the last spans', () => {
  describe('when the first hook of another module throws, and the limit of the application is no number,', () => {
    // Both tests look at one process.
    let ended: ReturnType<typeof endWithThrow> | undefined;
    const once = () => (ended ??= endWithThrow());

    it('H9: are exported within the default limit', async () => {
      const { names, warnings } = await once();
      expect([names[0], names.at(-1)]).toEqual(['OrdersController.list', '(shutdown)']);
      expect(warnings).toEqual([expect.stringContaining(`thrown in ${HOOKS[0]}`)]);
    });

    it('H9: are exported on a signal, once', async () => {
      const { names } = await once();
      expect(names.filter((name) => name === 'OrdersController.list')).toHaveLength(1);
    });
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
