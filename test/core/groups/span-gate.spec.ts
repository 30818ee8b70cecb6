import { beforeEach, describe, expect, it } from 'vitest';
import { context } from '@opentelemetry/api';
import { isSpanGroupEnabled, setEnabledSpanGroups, setSpanGroupSpec, SpanRegistry } from 'nest-lens/core';
import { holdGatesOpen } from '../../../src/core/groups/held-gates.js';
import { beginCountingCalls, endCountingCalls } from '../../../src/core/groups/missed-calls.js';
import { withOptedInGroups } from '../../../src/core/groups/opted-in-groups.js';
import { isGateOpenHere, spanGate } from '../../../src/core/groups/span-gate.js';
import { captureSpans } from '../../support/capture-spans.js';
import { captureWarnings } from '../../support/capture-warnings.js';

describe('the gate of a group', () => {
  beforeEach(() => {
    captureSpans(); // contexts need its context manager
    captureWarnings(); // none on the console
    SpanRegistry.register('shop', ['orders', 'cache']);
  });

  it('T8: is one for all who mention the group, however they write it', () => {
    setSpanGroupSpec('orders');
    const gate = spanGate(' Orders ');
    expect([spanGate('orders') === gate, spanGate('ORDERS') === gate]).toEqual([true, true]);
    expect(gate).toEqual({ name: 'orders', enabled: true });
  });

  it('T6: may be made before the registration, and follows the spec', () => {
    const gate = spanGate('late');
    expect(isGateOpenHere(gate)).toBe(false);
    setSpanGroupSpec('late');
    SpanRegistry.register('late_lib', ['late']);
    expect([isGateOpenHere(gate), isSpanGroupEnabled('late')]).toEqual([true, true]);
    SpanRegistry.unregister('late_lib');
    expect([isGateOpenHere(gate), isSpanGroupEnabled('late')]).toEqual([false, false]);
    setEnabledSpanGroups(['late']);
    expect(isGateOpenHere(gate)).toBe(true);
  });

  it('I1: that is held open lets nobody through but contexts that have opted in', () => {
    const gate = spanGate('orders');
    const letGo = holdGatesOpen(['orders']);
    const inside = withOptedInGroups(context.active(), new Set(['orders']));
    expect([gate.enabled, isGateOpenHere(gate), context.with(inside, () => isGateOpenHere(gate))]).toEqual([
      true,
      false,
      true,
    ]);
    expect([isSpanGroupEnabled('orders'), context.with(inside, () => isSpanGroupEnabled('orders'))]).toEqual([
      false,
      true,
    ]);
    letGo();
    expect([gate.enabled, context.with(inside, () => isGateOpenHere(gate))]).toEqual([false, false]);
  });

  it('N1: is open, though nobody passes, if it is made while calls before the set-up are counted', () => {
    beginCountingCalls();
    const gate = spanGate('cache');
    expect([gate.enabled, isGateOpenHere(gate)]).toEqual([true, false]);
    endCountingCalls();
    expect([gate.enabled, spanGate('orders').enabled]).toEqual([false, false]);
  });
});
