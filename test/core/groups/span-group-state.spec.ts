import { beforeEach, describe, expect, it, vi } from 'vitest';
import {
  clearSpanGroupOverride,
  enabledSpanGroups,
  isSpanGroupEnabled,
  overrideSpanGroups,
  pendingSpanGroups,
  setEnabledSpanGroups,
  setSpanGroupSpec,
  SpanRegistry,
  traceFn,
} from 'nest-lens/core';
import { applySourcedSpec } from '../../../src/core/groups/sourced-spec.js';
import { beginPreview } from '../../../src/core/groups/span-preview.js';
import { processState } from '../../../src/core/state/process-state.js';
import { captureSpans } from '../../support/capture-spans.js';
import { captureWarnings } from '../../support/capture-warnings.js';
import { setUpForTest } from '../../support/live-telemetry.js';

const enabled = (): string[] => [...enabledSpanGroups()].sort();
const pending = (): string[] => [...pendingSpanGroups()].sort();

// Keeps the warnings that a test isn't about off the console.
beforeEach(() => {
  captureWarnings();
});

describe('the enabled set', () => {
  it('T1: before set-up nothing is enabled, whatever is registered', () => {
    SpanRegistry.register('shop', ['orders'], { default: ['orders'] });
    expect([enabled(), pending(), isSpanGroupEnabled('orders')]).toEqual([[], [], false]);
  });

  it('T2: setSpanGroupSpec swaps enabled and pending together', () => {
    SpanRegistry.register('shop', ['orders', 'cache']);
    setSpanGroupSpec('orders,tpyo');
    expect([enabled(), pending()]).toEqual([['orders'], ['tpyo']]);
    setSpanGroupSpec('cache');
    expect([enabled(), pending()]).toEqual([['cache'], []]);
    setSpanGroupSpec('');
    expect([enabled(), pending()]).toEqual([[], []]);
  });

  it('T2: it keeps the raw spec, so names that are missing now count once they register', () => {
    setSpanGroupSpec('default, Late');
    SpanRegistry.register('shop', ['orders', 'late'], { default: ['orders'] });
    expect([enabled(), pending()]).toEqual([['late', 'orders'], []]);
  });

  it.each(['tpyo', '-', '*', ',', '\u0000', '__proto__'])('T2: it never throws (%j)', (spec) => {
    expect(() => setSpanGroupSpec(spec)).not.toThrow();
    expect(enabled()).toEqual([]);
  });

  it('T3: a registry change re-resolves a configured spec; a change elsewhere leaves it alone', () => {
    setSpanGroupSpec('default');
    SpanRegistry.register('a', ['orders'], { default: ['orders'] });
    expect(enabled()).toEqual(['orders']);
    SpanRegistry.register('b', ['cache']);
    expect(enabled()).toEqual(['orders']);
    SpanRegistry.unregister('a');
    expect([enabled(), pending()]).toEqual([[], ['default']]);
  });

  it.each<[string, () => void]>([
    ['pinned', () => setEnabledSpanGroups(['cache'])],
    ['the empty string', () => setSpanGroupSpec('')],
    ['never set', () => undefined],
  ])('T3: with no configured spec (%s) a registry change does nothing and says nothing', (_case, prepare) => {
    const warnings = captureWarnings();
    prepare();
    const before = enabled();
    SpanRegistry.register('a', ['orders', 'cache'], { default: ['orders'] });
    SpanRegistry.unregister('a');
    SpanRegistry.clear();
    expect([enabled(), pending(), warnings.codes()]).toEqual([before, [], []]);
  });

  it('T4: setEnabledSpanGroups pins the set as it is, unregistered and unnormalised names included', () => {
    setEnabledSpanGroups(['orders', 'Ghost ']);
    expect(enabled()).toEqual(['Ghost ', 'orders']);
    expect([isSpanGroupEnabled('Ghost '), isSpanGroupEnabled('ghost')]).toEqual([true, false]);
  });

  it('T4: a string is one name, not its letters', () => {
    setEnabledSpanGroups('orders');
    expect(enabled()).toEqual(['orders']);
  });

  it('T4: later registrations do not change it, nor does the iterable that was given', () => {
    const groups = new Set(['orders']);
    setEnabledSpanGroups(groups);
    groups.add('cache');
    SpanRegistry.register('shop', ['orders', 'cache'], { default: ['cache'] });
    SpanRegistry.unregister('shop');
    expect(enabled()).toEqual(['orders']);
  });

  it('T4: a pin takes any iterable and replaces the pin before it', () => {
    setEnabledSpanGroups(['orders']);
    setEnabledSpanGroups(new Map([['cache', 1]]).keys());
    expect(enabled()).toEqual(['cache']);
    setEnabledSpanGroups([]);
    expect(enabled()).toEqual([]);
  });

  it('T4: a pin drops spec and pending', () => {
    setSpanGroupSpec('orders,tpyo');
    setEnabledSpanGroups([]);
    expect([pending(), processState.configured]).toEqual([[], undefined]);
    SpanRegistry.register('shop', ['orders', 'tpyo']);
    expect([enabled(), pending()]).toEqual([[], []]);
  });

  it('T5: of setSpanGroupSpec and setEnabledSpanGroups the last call wins', () => {
    SpanRegistry.register('shop', ['orders', 'cache', 'payment']);
    setEnabledSpanGroups(['cache']);
    setSpanGroupSpec('orders');
    expect(enabled()).toEqual(['orders']);
    setEnabledSpanGroups(['cache']);
    expect(enabled()).toEqual(['cache']);
    setSpanGroupSpec('payment');
    SpanRegistry.register('more', ['step']);
    expect(enabled()).toEqual(['payment']);
  });

  it('T6: after set-up a library that registers takes effect at once, and one that unregisters switches off at once', async () => {
    const spans = captureSpans();
    await setUpForTest({ spanGroups: 'default' });
    const warnings = captureWarnings();
    const work = traceFn('orders', 'orders.list')(() => 1);

    work();
    SpanRegistry.register('shop', ['orders'], { default: ['orders'] });
    work();
    SpanRegistry.unregister('shop');
    work();

    expect(spans.names()).toEqual(['orders.list']);
    expect(warnings.codes()).toContain('LATE_REGISTRATION');
  });

  it('T8: the gate neither trims nor lower-cases', () => {
    SpanRegistry.register('shop', ['Orders']);
    setSpanGroupSpec('ORDERS');
    expect(['orders', 'Orders', ' orders', 'orders '].map((name) => isSpanGroupEnabled(name))).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });

  it('T8: a site normalises its group when it is defined', () => {
    const spans = captureSpans();
    SpanRegistry.register('shop', ['orders']);
    const work = traceFn(' Orders ', 'orders.list')(() => 1);
    setSpanGroupSpec('orders');
    work();
    expect(spans.single().attributes).toMatchObject({ 'nestlens.group': 'orders' });
  });

  it('T9: enabledSpanGroups and pendingSpanGroups are not live views', () => {
    SpanRegistry.register('shop', ['orders']);
    setSpanGroupSpec('orders,tpyo');
    const [wasEnabled, wasPending] = [enabledSpanGroups(), pendingSpanGroups()];
    setSpanGroupSpec('oops');
    expect([[...wasEnabled], [...wasPending]]).toEqual([['orders'], ['tpyo']]);
  });

  it('T10: when a preset that the spec names becomes empty, pending stays empty and SPEC_SELECTED_NOTHING says so', () => {
    SpanRegistry.register('engine', ['step']);
    SpanRegistry.register('rl', ['rollout'], { default: ['step'] });
    setSpanGroupSpec('default');
    const warnings = captureWarnings();
    SpanRegistry.unregister('engine');
    expect([enabled(), pending()]).toEqual([[], []]);
    expect(warnings.codes()).toEqual(['SPEC_SELECTED_NOTHING']);
  });
});

describe('the end of the telemetry', () => {
  it('T1, W7: forgets everything about the spec: as configured, given by a source, overridden, pinned, changed', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    SpanRegistry.register('shop', ['orders', 'cache']);
    const handle = await setUpForTest({ spanGroups: 'orders' });
    applySourcedSpec('script', 'orders');
    overrideSpanGroups('cache', { ttlMs: 60_000 });
    const preview = beginPreview(['orders'])!;
    const closed = handle.shutdown();
    const { changes, configured, noteOffCall, override, pinned, setUp, sourced } = processState;
    expect({ changes, configured, noteOffCall, override, pinned, setUp, sourced }).toEqual({
      changes: [],
      configured: undefined,
      noteOffCall: undefined,
      override: undefined,
      pinned: false,
      setUp: false,
      sourced: undefined,
    });
    expect([enabled(), [...processState.open], processState.preview]).toEqual([[], [], undefined]);
    preview.end();
    await closed;
  });

  it('T4: ends a pin, too: the next spec counts, and so does what registers then', async () => {
    const handle = await setUpForTest();
    setEnabledSpanGroups(['orders']);
    await handle.shutdown();
    expect([enabled(), processState.pinned]).toEqual([[], false]);
  });
});

describe('the time of an override', () => {
  it.each<[string, () => void]>([
    ['a pin', () => setEnabledSpanGroups([])],
    ['its end by hand', () => clearSpanGroupOverride()],
    ['an override without a time', () => overrideSpanGroups('orders')],
  ])('T7: leaves no timer behind after %s', (_what, end) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    overrideSpanGroups('orders', { ttlMs: 60_000 });
    expect(vi.getTimerCount()).toBe(1);
    end();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('T4, T7: is over for good with a pin, which drops the override', () => {
    SpanRegistry.register('shop', ['orders', 'cache']);
    overrideSpanGroups('orders');
    setEnabledSpanGroups([]);
    setSpanGroupSpec('cache');
    expect(enabled()).toEqual(['cache']);
  });
});
