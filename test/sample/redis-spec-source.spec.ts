import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { enabledSpanGroups, SpanRegistry } from 'nest-lens/core';
import { createClient } from 'redis';
import { redisSpecSource } from '../../sample-app/spec-sources/redis/redis-spec-source.js';
import { type BrokerServer, hasBroker, startBroker } from '../support/broker-servers.js';
import { captureWarnings } from '../support/capture-warnings.js';
import { until } from '../support/lens-app.js';
import { setUpForTest } from '../support/live-telemetry.js';
import { describeWith } from '../support/describe-with.js';

vi.setConfig({ testTimeout: 30_000 });

const on = (): string => [...enabledSpanGroups()].sort().join();
/** An announcement that is lost while a connection comes back is made up for within ten seconds. */
const says = async (groups: string): Promise<void> => {
  await until(() => on() === groups, 12_000);
  expect(on()).toBe(groups);
};
const KEY = 'nest-lens:span-groups';

describeWith('redis-server', hasBroker('redis'), 'sample-app/spec-sources/redis', () => {
  let server: BrokerServer;
  let url: string;
  beforeEach(async () => {
    server = await startBroker('redis');
    url = `redis://127.0.0.1:${server.port}`;
    SpanRegistry.register('shop', ['orders', 'stock', 'payment']);
  });
  afterEach(() => server.stop());

  /** Makes changes, as an operator does with redis-cli. */
  const change = async (spec: string | null): Promise<void> => {
    const client = await createClient({ url }).connect();
    if (spec === null) await client.del(KEY);
    else await client.set(KEY, spec);
    await client.publish(KEY, 'changed');
    client.destroy();
  };

  it('obeys the key from the set-up on, and each announced change; without the key the configured spec counts', async () => {
    await change('stock');
    const warnings = captureWarnings();
    const handle = await setUpForTest({ spanGroups: 'orders' }, { specSource: redisSpecSource({ url }) });
    expect(on()).toBe('stock');
    await change('payment,stock');
    await says('payment,stock');
    await change(null);
    await says('orders');
    await change('-all');
    await says('');
    await change('');
    await says('orders');
    await handle.shutdown();
    await change('stock');
    expect([on(), warnings.codes()]).toEqual(['', []]);
  });

  it('keeps the spec while Redis is away, says so once, and obeys what was changed meanwhile', async () => {
    await change('stock');
    const warnings = captureWarnings();
    await setUpForTest({ spanGroups: 'orders' }, { specSource: redisSpecSource({ url }) });
    await server.stop();
    await until(() => warnings.codes().length > 0, 5_000);
    expect(on()).toBe('stock');
    server = await startBroker('redis', server.port);
    // Redis has lost the key.
    await says('orders');
    await change('payment');
    await says('payment');
    expect(warnings.codes()).toEqual(['SPEC_SOURCE_FAILED', 'SPEC_SOURCE_RECOVERED']);
    expect(warnings.single('SPEC_SOURCE_FAILED').details).toMatchObject({
      source: `redis:${KEY}`,
      hasGiven: true,
    });
  });

  it('starts without Redis, and obeys it when it is there', async () => {
    await server.stop();
    const warnings = captureWarnings();
    await setUpForTest({ spanGroups: 'orders' }, { specSource: redisSpecSource({ url }) });
    expect([on(), warnings.codes()]).toEqual(['orders', ['SPEC_SOURCE_FAILED']]);
    server = await startBroker('redis', server.port);
    await change('stock');
    await says('stock');
    expect(warnings.codes()).toEqual(['SPEC_SOURCE_FAILED', 'SPEC_SOURCE_RECOVERED']);
  });
});
