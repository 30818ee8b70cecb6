import { beforeEach, describe, expect, it } from 'vitest';
import { isSpanGroupEnabled, managedSpan, setSpanGroupSpec, SpanRegistry, traceFn } from 'nest-lens/core';
import { isAdmitted } from '../../../src/core/groups/admission.js';
import { beginCountingCalls, endCountingCalls } from '../../../src/core/groups/missed-calls.js';
import { processState, resetProcessState } from '../../../src/core/state/process-state.js';
import { captureSpans, type CapturedSpans } from '../../support/capture-spans.js';
import { setUpForTest } from '../../support/live-telemetry.js';

describe('calls before the set-up', () => {
  const list = traceFn('orders', 'orders.list')((): number => 1);
  let spans: CapturedSpans;
  beforeEach(() => {
    spans = captureSpans();
    SpanRegistry.register('shop', ['orders', 'cache']);
  });

  it('N1: are counted by site, on or off, make no span and give their result', () => {
    beginCountingCalls();
    expect([managedSpan('cache', 'cache.get', (span) => span), list(), list()]).toEqual([undefined, 1, 1]);
    setSpanGroupSpec('orders');
    list();
    expect(endCountingCalls()).toEqual([
      { site: 'orders.list', group: 'orders', count: 3 },
      { site: 'cache.get', group: 'cache', count: 1 },
    ]);
    expect(spans.names()).toEqual([]);
  });

  it('N1: are not counted where the gate of the method counts them', () => {
    beginCountingCalls();
    expect(isAdmitted('orders', undefined)).toBe(false);
    expect(endCountingCalls()).toEqual([]);
  });

  it('N1: are not counted where a call asks for a group and would make no span', () => {
    beginCountingCalls();
    expect(isSpanGroupEnabled('orders')).toBe(false);
    expect(endCountingCalls()).toEqual([]);
  });

  it('N1: are counted on when the telemetry of another application ends', async () => {
    const other = await setUpForTest();
    beginCountingCalls();
    await other.shutdown();
    managedSpan('cache', 'cache.get', () => 1);
    expect(endCountingCalls()).toEqual([{ site: 'cache.get', group: 'cache', count: 1 }]);
  });

  it('N1: make no span after a reset in the middle of the counting, which is over with it', () => {
    beginCountingCalls();
    resetProcessState();
    const work = traceFn('after_reset', 'after.reset')((): number => 1);
    expect([work(), list(), spans.names(), endCountingCalls()]).toEqual([1, 1, [], []]);
  });

  it('N1: are the same again when the counting is over', () => {
    beginCountingCalls();
    list();
    beginCountingCalls();
    list();
    expect(endCountingCalls()).toEqual([{ site: 'orders.list', group: 'orders', count: 2 }]);
    expect(endCountingCalls()).toEqual([]);
    list();
    expect([
      spans.names(),
      processState.isAdmitted !== undefined,
      processState.noteOffCall !== undefined,
    ]).toEqual([[], false, false]);
    setSpanGroupSpec('orders');
    list();
    expect(spans.names()).toEqual(['orders.list']);
  });
});
