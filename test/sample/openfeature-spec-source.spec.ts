import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { InMemoryProvider, OpenFeature, ProviderEvents } from '@openfeature/server-sdk';
import { enabledSpanGroups, SpanRegistry } from 'nest-lens/core';
import { openFeatureSpecSource } from '../../sample-app/spec-sources/openfeature/openfeature-spec-source.js';
import { type CapturedWarnings, captureWarnings } from '../support/capture-warnings.js';
import { until } from '../support/lens-app.js';
import { setUpForTest } from '../support/live-telemetry.js';

vi.setConfig({ testTimeout: 20_000 });

const on = (): string => [...enabledSpanGroups()].sort().join();
const says = async (groups: string): Promise<void> => {
  await until(() => on() === groups);
  expect(on()).toBe(groups);
};
type Flags = ConstructorParameters<typeof InMemoryProvider>[0];
const flagOf = (spec: string | number, changes: object = {}): NonNullable<Flags> => ({
  'span-groups': { variants: { on: spec }, defaultVariant: 'on', disabled: false, ...changes },
});

describe('sample-app/spec-sources/openfeature', () => {
  const provider = new InMemoryProvider(flagOf('stock'));
  const client = OpenFeature.getClient();
  let warnings: CapturedWarnings;

  beforeEach(async () => {
    provider.putConfiguration(flagOf('stock'));
    await OpenFeature.setProviderAndWait(provider);
    SpanRegistry.register('shop', ['orders', 'stock', 'payment']);
    warnings = captureWarnings();
  });
  afterEach(() => OpenFeature.clearProviders());

  it('obeys the flag from the set-up on, and each change; without a flag the configured spec counts', async () => {
    const specSource = openFeatureSpecSource(client);
    const handle = await setUpForTest({ spanGroups: 'orders' }, { specSource });
    expect(on()).toBe('stock');
    provider.putConfiguration(flagOf('payment,stock'));
    await says('payment,stock');
    provider.putConfiguration({});
    await says('orders');
    provider.putConfiguration(flagOf('-all'));
    await says('');
    provider.putConfiguration(flagOf('stock', { disabled: true }));
    await says('orders');
    await handle.shutdown();
    provider.putConfiguration(flagOf('stock'));
    await new Promise((resolve) => setImmediate(resolve));
    expect([on(), warnings.codes()]).toEqual(['', []]);
    await setUpForTest({ spanGroups: 'orders' }, { specSource });
    expect(on()).toBe('stock');
  });

  it('obeys the rules of the flag for the context that it is given', async () => {
    const rules = { contextEvaluator: ({ targetingKey }: { targetingKey?: string }) => targetingKey };
    provider.putConfiguration(flagOf('', { variants: { 'shop-1': 'stock', 'shop-2': 'payment' }, ...rules }));
    await setUpForTest(
      {},
      { specSource: openFeatureSpecSource(client, 'span-groups', { targetingKey: 'shop-2' }) },
    );
    expect(on()).toBe('payment');
  });

  it('keeps the spec when the flag is of another type, or the provider fails, and says so', async () => {
    await setUpForTest({ spanGroups: 'orders' }, { specSource: openFeatureSpecSource(client) });
    provider.putConfiguration(flagOf(7));
    await until(() => warnings.codes().length > 0);
    expect([on(), warnings.single('SPEC_SOURCE_FAILED').message]).toEqual([
      'stock',
      expect.stringContaining('TYPE_MISMATCH'),
    ]);
    provider.putConfiguration(flagOf('payment'));
    await says('payment');
    provider.events.emit(ProviderEvents.Error, { message: 'the stream broke off' });
    await until(() => warnings.codes().length === 3);
    expect([on(), warnings.all[2]!.message]).toEqual([
      'payment',
      expect.stringContaining('the stream broke off'),
    ]);
    provider.events.emit(ProviderEvents.Ready);
    await until(() => warnings.codes().length === 4);
    expect(warnings.codes().slice(1)).toEqual([
      'SPEC_SOURCE_RECOVERED',
      'SPEC_SOURCE_FAILED',
      'SPEC_SOURCE_RECOVERED',
    ]);
  });
});
