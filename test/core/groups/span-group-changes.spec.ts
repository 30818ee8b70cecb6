import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  clearSpanGroupOverride,
  overrideSpanGroups,
  setEnabledSpanGroups,
  setLensLogger,
  setSpanGroupSpec,
  type SpanGroupChange,
  SpanRegistry,
} from 'nest-lens/core';
import { overrideAs } from '../../../src/core/groups/span-group-override.js';
import { processState } from '../../../src/core/state/process-state.js';
import { setUpForTest } from '../../support/live-telemetry.js';

const changes = (): readonly SpanGroupChange[] => processState.changes;
const inShort = (): string[] =>
  changes().map(({ before, after, until, by }) => `${before} > ${after}${until ? ' (ends)' : ''} ${by}`);

describe('the record of changes', () => {
  beforeEach(() => {
    setLensLogger({ warn: () => undefined });
    SpanRegistry.register('shop', ['orders', 'payment'], { default: ['orders'] });
  });
  afterEach(() => void vi.useRealTimers());

  it('what a set-up puts in force is its configuration, and no change', async () => {
    await setUpForTest({ spanGroups: 'orders' });
    expect(changes()).toEqual([]);
  });

  it('T2, T4, T7: an override, its end by hand, another spec and a pin are changes by code', async () => {
    await setUpForTest({ spanGroups: 'orders' });
    overrideSpanGroups('payment', { ttlMs: 60_000 });
    overrideSpanGroups('all');
    clearSpanGroupOverride();
    setSpanGroupSpec('default');
    setEnabledSpanGroups(['payment', 'orders']);

    expect(inShort()).toEqual([
      'orders > payment (ends) (code)',
      'payment > all (code)',
      'all > orders (code)',
      'orders > default (code)',
      'default > orders,payment (code)',
    ]);
  });

  it('T7: an override that is over is a change, too, and says so', () => {
    vi.useFakeTimers();
    setSpanGroupSpec('orders');
    overrideSpanGroups('payment', { ttlMs: 1_000 });
    const [{ at, until }] = changes() as [SpanGroupChange];
    expect(Date.parse(until!) - Date.parse(at)).toBeCloseTo(1_000, -2);
    vi.advanceTimersByTime(1_001);

    expect(inShort()).toEqual(['orders > payment (ends) (code)', 'payment > orders (expired)']);
  });

  it('what changes nothing is none: no override to clear, the same spec, a spec below an override', async () => {
    await setUpForTest({ spanGroups: 'orders' });
    clearSpanGroupOverride();
    setSpanGroupSpec('orders');
    overrideSpanGroups('orders');
    expect(changes()).toEqual([]);

    overrideSpanGroups('payment');
    setSpanGroupSpec('default');
    expect(inShort()).toEqual(['orders > payment (code)']);
  });

  it('what is refused is none', async () => {
    await setUpForTest({ spanGroups: 'orders' });
    expect(() => overrideSpanGroups('payment', { ttlMs: 0 })).toThrow();
    expect(() => overrideSpanGroups(7 as never)).toThrow();
    expect(() => setEnabledSpanGroups(7 as never)).toThrow();
    setSpanGroupSpec(7 as never);

    expect(changes()).toEqual([]);
  });

  it('the last fifty are kept, and long specs are cut', () => {
    for (let at = 1; at <= 60; at += 1) overrideSpanGroups(`payment,x${at}`);
    expect(changes()).toHaveLength(50);
    expect(changes()[0]?.after).toBe('payment,x11');
    expect(changes()[49]).toMatchObject({ before: 'payment,x59', after: 'payment,x60' });

    overrideSpanGroups('x'.repeat(90_000));
    expect(changes()[49]?.after).toBe(`${'x'.repeat(1_000)}… (90000 characters)`);
  });

  it('H1: a shutdown forgets them', async () => {
    const handle = await setUpForTest();
    overrideSpanGroups('payment');
    await handle.shutdown();
    expect(changes()).toEqual([]);
  });
});

describe('the line of a change', () => {
  let lines: string[];
  beforeEach(() => {
    lines = [];
    SpanRegistry.register('shop', ['orders']);
  });
  const listen = (info: (message: string, change: SpanGroupChange) => void): void =>
    setLensLogger({ warn: () => undefined, info });

  it('says before, after, until when and who, once for each change', () => {
    let told: SpanGroupChange | undefined;
    listen((message, change) => {
      lines.push(message);
      told = change;
    });
    overrideAs('anna', 'orders', { ttlMs: 60_000 });
    clearSpanGroupOverride();
    overrideAs(null, 'orders', {});

    expect(lines).toEqual([
      expect.stringMatching(
        /^The span group spec in force changed from '' to 'orders', until \d{4}-\S+Z, by anna\.$/,
      ),
      "The span group spec in force changed from 'orders' to '', by (code).",
      "The span group spec in force changed from '' to 'orders', by an unknown caller.",
    ]);
    expect(told).toEqual(changes()[2]);
  });

  it('stays one line, whatever the spec is', () => {
    listen((message) => void lines.push(message));
    overrideSpanGroups('orders\n2026-11-30 ERROR all is lost\u001b[31m\u202e');
    expect(lines[0]).toContain(String.raw`orders\n2026-11-30 ERROR all is lost\u001b[31m\u202e'`);
  });

  it('comes before what is warned about the new spec', () => {
    setLensLogger({
      warn: (_, { code }) => void lines.push(code),
      info: (_, { after }) => void lines.push(after),
    });
    overrideSpanGroups('oders');
    expect(lines).toEqual(['oders', 'SPEC_UNRESOLVED']);
  });

  it('R19: a logger that throws, rejects or changes the spec itself breaks nothing', async () => {
    listen(() => {
      throw new Error('full disk');
    });
    overrideSpanGroups('orders');
    listen(() => Promise.reject(new Error('full disk')) as never);
    clearSpanGroupOverride();
    let calls = 0;
    listen(() => {
      calls += 1;
      overrideSpanGroups(`orders,x${calls}`);
    });
    overrideSpanGroups('orders');
    await new Promise((resolve) => setImmediate(resolve));

    expect(calls).toBeLessThan(5);
    expect(processState.override?.spec.raw).toBe(`orders,x${calls}`);
  });

  it('goes nowhere where the logger takes warnings only, and to no console', () => {
    const printed = vi.spyOn(console, 'info').mockImplementation(() => undefined);
    overrideSpanGroups('orders');
    setLensLogger({ warn: () => undefined });
    clearSpanGroupOverride();
    expect(printed).not.toHaveBeenCalled();
    printed.mockRestore();
  });
});
