import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  clearSpanGroupOverride,
  enabledSpanGroups,
  managedSpan,
  NestLensError,
  overrideSpanGroups,
  pendingSpanGroups,
  setEnabledSpanGroups,
  setSpanGroupSpec,
  SpanRegistry,
  traceFn,
} from 'nest-lens/core';
import { overrideEnd } from '../../../src/core/groups/override-end.js';
import { forgetSpanGroupState } from '../../../src/core/groups/span-group-state.js';
import { processState } from '../../../src/core/state/process-state.js';
import { captureSpans } from '../../support/capture-spans.js';
import { captureWarnings } from '../../support/capture-warnings.js';

const enabled = (): string[] => [...enabledSpanGroups()].sort();
const pending = (): string[] => [...pendingSpanGroups()].sort();

// Keeps the warnings that a test isn't about off the console.
beforeEach(() => {
  captureWarnings();
});

describe('overrideSpanGroups', () => {
  beforeEach(() => {
    SpanRegistry.register('shop', ['orders', 'cache', 'payment'], { default: ['orders'] });
    setSpanGroupSpec('default');
  });

  it('T7: lies over the configured spec until it is cleared', () => {
    overrideSpanGroups('cache,payment');
    expect(enabled()).toEqual(['cache', 'payment']);
    clearSpanGroupOverride();
    expect(enabled()).toEqual(['orders']);
  });

  it('T7: lies over a spec that is configured meanwhile, which is in force when it is cleared', () => {
    overrideSpanGroups('cache');
    setSpanGroupSpec('payment');
    expect(enabled()).toEqual(['cache']);
    clearSpanGroupOverride();
    expect(enabled()).toEqual(['payment']);
  });

  it('T7: where no spec is configured, everything is off when it is cleared', () => {
    forgetSpanGroupState();
    overrideSpanGroups('cache');
    clearSpanGroupOverride();
    expect(enabled()).toEqual([]);
  });

  it('T7: pending is that of the spec in force', () => {
    overrideSpanGroups('cache,tpyo');
    expect(pending()).toEqual(['tpyo']);
    clearSpanGroupOverride();
    expect(pending()).toEqual([]);
  });

  it('T7: re-resolves as the configured spec does, which is up to date when it comes back', () => {
    overrideSpanGroups('all,-orders');
    SpanRegistry.register('other', ['step'], { default: ['step'] });
    expect(enabled()).toEqual(['cache', 'payment', 'step']);
    SpanRegistry.unregister('shop');
    expect(enabled()).toEqual(['step']);
    clearSpanGroupOverride();
    expect(enabled()).toEqual(['step']);
    expect(pending()).toEqual([]);
  });

  it('T7: wildcards of the configured spec are up to date when it comes back', () => {
    setSpanGroupSpec('db_*');
    overrideSpanGroups('orders');
    SpanRegistry.register('db', ['db_query']);
    clearSpanGroupOverride();
    expect([enabled(), pending()]).toEqual([['db_query'], []]);
  });

  it('T7: a later override replaces the one before, and one clearing ends both', () => {
    overrideSpanGroups('cache');
    overrideSpanGroups('payment');
    expect(enabled()).toEqual(['payment']);
    clearSpanGroupOverride();
    expect(enabled()).toEqual(['orders']);
  });

  it('T7: clearing without an override does nothing', () => {
    clearSpanGroupOverride();
    expect(enabled()).toEqual(['orders']);
  });

  it.each<[string, () => void]>([
    ['overrideSpanGroups', () => overrideSpanGroups('cache')],
    ['overrideSpanGroups with a ttl', () => overrideSpanGroups('cache', { ttlMs: 1_000 })],
    ['clearSpanGroupOverride', () => clearSpanGroupOverride()],
  ])('T7: on a pinned process %s throws PINNED and changes nothing', (_name, call) => {
    setEnabledSpanGroups(['payment']);
    expect(call).toThrow(NestLensError);
    expect(call).toThrow(expect.objectContaining({ name: 'NestLensError', code: 'PINNED' }));
    expect(enabled()).toEqual(['payment']);
  });

  it('T7: a pin drops an override, and the next spec does not bring it back', () => {
    overrideSpanGroups('cache', { ttlMs: 60_000 });
    setEnabledSpanGroups([]);
    setSpanGroupSpec('default');
    expect(enabled()).toEqual(['orders']);
  });

  it('T7: a spec that names nothing is reported', () => {
    const warnings = captureWarnings();
    overrideSpanGroups('cahce');
    expect(warnings.codes()).toEqual(['SPEC_UNRESOLVED']);
  });

  it('T7: sites follow an override at once', () => {
    const spans = captureSpans();
    const list = traceFn('orders', 'list')(() => 1);
    const pay = traceFn('payment', 'pay')(() => 1);
    overrideSpanGroups('payment');
    list();
    pay();
    managedSpan('payment', 'inline', () => 1);
    clearSpanGroupOverride();
    list();
    pay();
    expect(spans.names()).toEqual(['pay', 'inline', 'list']);
  });

  describe('with a ttl', () => {
    beforeEach(() => {
      vi.useFakeTimers();
    });
    afterEach(() => {
      vi.useRealTimers();
    });

    it('T7: ends by itself after ttlMs', () => {
      overrideSpanGroups('cache', { ttlMs: 1_000 });
      vi.advanceTimersByTime(999);
      expect(enabled()).toEqual(['cache']);
      vi.advanceTimersByTime(1);
      expect(enabled()).toEqual(['orders']);
      expect(vi.getTimerCount()).toBe(0);
    });

    it('T7: without a ttl it does not end', () => {
      overrideSpanGroups('cache');
      expect(vi.getTimerCount()).toBe(0);
      vi.advanceTimersByTime(2 ** 33);
      expect(enabled()).toEqual(['cache']);
    });

    it('T7: a ttl longer than one timer can wait lasts its whole time', () => {
      const ttlMs = 2 ** 31 + 5_000;
      const wait = vi.spyOn(globalThis, 'setTimeout');
      overrideSpanGroups('cache', { ttlMs });
      vi.advanceTimersByTime(10_000);
      expect(enabled()).toEqual(['cache']);
      vi.advanceTimersByTime(ttlMs - 10_001);
      expect(enabled()).toEqual(['cache']);
      vi.advanceTimersByTime(1);
      expect(enabled()).toEqual(['orders']);
      // Node turns a longer delay into one of a millisecond, which would make this a busy loop.
      const delays = wait.mock.calls.map(([, delay]) => delay ?? 0);
      wait.mockRestore();
      expect(delays.length).toBeLessThanOrEqual(3);
      for (const delay of delays) expect(delay).toBeLessThan(2 ** 31);
    });

    it('T7: the end of an earlier override does not touch a later one', () => {
      overrideSpanGroups('cache', { ttlMs: 1_000 });
      overrideSpanGroups('payment', { ttlMs: 5_000 });
      vi.advanceTimersByTime(4_999);
      expect(enabled()).toEqual(['payment']);
      clearSpanGroupOverride();
      overrideSpanGroups('cache');
      vi.advanceTimersByTime(60_000);
      expect(enabled()).toEqual(['cache']);
    });

    it('T7: a pin cancels the end, and the pin stays', () => {
      overrideSpanGroups('cache', { ttlMs: 1_000 });
      setEnabledSpanGroups(['payment']);
      expect(vi.getTimerCount()).toBe(0);
      vi.advanceTimersByTime(1_000);
      expect(enabled()).toEqual(['payment']);
    });

    it('T7: the end of an earlier override does nothing, though fake timers have not cleared its timer', () => {
      const clear = vi.spyOn(globalThis, 'clearTimeout').mockImplementation(() => undefined);
      overrideSpanGroups('cache', { ttlMs: 1_000 });
      overrideSpanGroups('payment', { ttlMs: 5_000 });
      vi.advanceTimersByTime(1_000);
      expect(enabled()).toEqual(['payment']);
      setEnabledSpanGroups(['cache']);
      clear.mockRestore();
      expect(() => vi.advanceTimersByTime(4_000)).not.toThrow();
      expect(enabled()).toEqual(['cache']);
    });

    it('T7: when it ends, the configured spec is resolved against what is registered by then', () => {
      overrideSpanGroups('cache', { ttlMs: 1_000 });
      SpanRegistry.register('other', ['step'], { default: ['step'] });
      vi.advanceTimersByTime(1_000);
      expect(enabled()).toEqual(['orders', 'step']);
    });
  });

  describe('with a wall clock that is set', () => {
    const DAY_MS = 86_400_000;
    beforeEach(() => {
      vi.useFakeTimers();
    });
    afterEach(() => {
      vi.useRealTimers();
    });

    it.each([
      ['back a day', -DAY_MS],
      ['forward a day', DAY_MS],
      ['back to 1970', -Date.now()],
      ['back a second', -1_000],
    ])('T7: %s: it ends when ttlMs have passed, neither before nor after', (_how, by) => {
      overrideSpanGroups('cache', { ttlMs: 60_000 });
      vi.advanceTimersByTime(10_000);
      vi.setSystemTime(Date.now() + by);
      vi.advanceTimersByTime(49_999);
      expect(enabled()).toEqual(['cache']);
      vi.advanceTimersByTime(1);
      expect(enabled()).toEqual(['orders']);
      expect(vi.getTimerCount()).toBe(0);
    });

    it('T7: also while a ttl longer than one timer can wait is under way', () => {
      const ttlMs = 2 ** 31 + 5_000;
      overrideSpanGroups('cache', { ttlMs });
      vi.advanceTimersByTime(5_000);
      vi.setSystemTime(Date.now() - 30 * DAY_MS);
      vi.advanceTimersByTime(ttlMs - 5_001);
      expect(enabled()).toEqual(['cache']);
      vi.advanceTimersByTime(1);
      expect(enabled()).toEqual(['orders']);
    });

    it('T7: the document says the end by the clock as it is now, and the same each time', () => {
      const shownEnd = (): number => overrideEnd(processState.override!)!.getTime();
      overrideSpanGroups('cache', { ttlMs: 60_000 });
      const end = Date.now() + 60_000;
      vi.advanceTimersByTime(10_000);
      expect(shownEnd()).toBe(end);
      // Up to here, a difference counts as drift.
      vi.setSystemTime(Date.now() + 1_000);
      expect(shownEnd()).toBe(end);
      vi.setSystemTime(Date.now() - 1_000 - DAY_MS);
      expect(shownEnd()).toBe(end - DAY_MS);
      vi.advanceTimersByTime(10_000);
      expect(shownEnd()).toBe(end - DAY_MS);
    });

    it('T7: the longest ttl has an end that can be shown, however the clock is set', () => {
      overrideSpanGroups('cache', { ttlMs: 8.64e15 - Date.now() });
      vi.setSystemTime(Date.now() + DAY_MS);
      expect(overrideEnd(processState.override!)!.toISOString()).toBe('+275760-09-13T00:00:00.000Z');
    });
  });

  it('T7: an override waiting for its end does not keep the process alive', () => {
    const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    const before = timers();
    overrideSpanGroups('cache', { ttlMs: 60_000 });
    expect(timers()).toBe(before);
    const control = setTimeout(() => undefined, 60_000);
    expect(timers()).toBe(before + 1);
    clearTimeout(control);
  });
});
