import { describe, expect, it } from 'vitest';
import {
  enabledSpanGroups,
  isSpanGroupEnabled,
  pendingSpanGroups,
  SPAN_REGISTRY_SERVICE,
  SpanRegistry,
  SpanRegistryService,
} from 'nest-lens';
import { express } from '../../support/adapters.js';
import { guardEachTest, lensApp } from '../../support/lens-app.js';
import type { LensAppBuilder } from '../../support/lens-app.js';

describe('SpanRegistryService', () => {
  guardEachTest();

  const shop = { namespace: 'shop', groups: ['orders', 'payment'], presets: { default: ['orders'] } };

  async function serviceOf(builder: LensAppBuilder): Promise<SpanRegistryService> {
    const lens = await builder.forRoot({ registrations: [shop] }).start();
    return lens.app.get(SpanRegistryService);
  }

  it('N3: it shows the registry of the process', async () => {
    const service = await serviceOf(lensApp(express).spec('default,unknown_name'));

    expect([...service.groups()].sort()).toEqual(['orders', 'payment']);
    expect(service.namespaces()).toEqual(['shop']);
    expect(
      Object.fromEntries([...service.presets()].map(([name, groups]) => [name, [...groups].sort()])),
    ).toEqual({
      all: ['orders', 'payment'],
      default: ['orders'],
    });
    expect(service.isEnabled('orders')).toBe(true);
    expect(service.isEnabled('payment')).toBe(false);
    expect([...service.enabled()]).toEqual([...enabledSpanGroups()]);
    expect([...service.pending()]).toEqual([...pendingSpanGroups()]);
    expect([...service.pending()]).toEqual(['unknown_name']);
  });

  it('N3: it resolves a spec without changing what is on', async () => {
    const service = await serviceOf(lensApp(express).spec('default'));
    const { enabled, pending } = service.resolve('payment,nowhere');

    expect([[...enabled], [...pending]]).toEqual([['payment'], ['nowhere']]);
    expect([...enabledSpanGroups()]).toEqual(['orders']);
  });

  it('N3, T6: what is registered and unregistered through it is in the registry of the process', async () => {
    const service = await serviceOf(lensApp(express).spec('all'));
    service.register('late_lib', new Set(['Late ']), { default: ['late'] });
    expect(SpanRegistry.namespaces()).toEqual(['late_lib', 'shop']);
    expect(isSpanGroupEnabled('late')).toBe(true);
    expect([...service.presets().get('default')!].sort()).toEqual(['late', 'orders']);

    expect(() => service.register('late_lib', ['other'])).toThrow(
      expect.objectContaining({ code: 'NAMESPACE_REGISTERED' }),
    );
    service.register('late_lib', ['other'], {}, { allowOverride: true });
    expect(isSpanGroupEnabled('late')).toBe(false);
    service.unregister('late_lib');
    expect(SpanRegistry.namespaces()).toEqual(['shop']);
    expect(() => service.unregister('late_lib')).toThrow(
      expect.objectContaining({ code: 'NAMESPACE_NOT_REGISTERED' }),
    );
  });

  it('N3, T7: it puts an override over the spec and takes it away', async () => {
    const service = await serviceOf(lensApp(express).spec('default'));
    service.override('payment', { ttlMs: 60_000 });
    expect([...enabledSpanGroups()]).toEqual(['payment']);
    service.clearOverride();
    expect([...enabledSpanGroups()]).toEqual(['orders']);
  });

  it('N3, T7: on a disabled, so pinned, process an override is refused', async () => {
    const service = await serviceOf(lensApp(express).forRoot({ config: { enabled: false } }));

    expect(() => service.override('payment')).toThrow(expect.objectContaining({ code: 'PINNED' }));
    expect(() => service.clearOverride()).toThrow(expect.objectContaining({ code: 'PINNED' }));
  });

  it('N3, T8: isEnabled asks the gate: it does not trim or lower-case', async () => {
    const service = await serviceOf(lensApp(express).spec('default'));

    expect([service.isEnabled('Orders'), service.isEnabled(' orders')]).toEqual([false, false]);
  });

  it('N3: across copies of the package it is injected by a token that all of them know', async () => {
    const lens = await lensApp(express).groups('orders').start();

    expect(typeof SPAN_REGISTRY_SERVICE).toBe('symbol');
    expect(Symbol.keyFor(SPAN_REGISTRY_SERVICE)).toMatch(/^nest-lens/);
    expect(lens.app.get(SPAN_REGISTRY_SERVICE)).toBe(lens.app.get(SpanRegistryService));
  });
});
