import { beforeEach, describe, expect, it } from 'vitest';
import {
  clearSpanGroupOverride,
  enabledSpanGroups,
  overrideSpanGroups,
  pendingSpanGroups,
  setEnabledSpanGroups,
  setSpanGroupSpec,
  SpanRegistry,
} from 'nest-lens/core';
import { applySourcedSpec } from '../../../src/core/groups/sourced-spec.js';
import { processState } from '../../../src/core/state/process-state.js';
import { captureWarnings, type CapturedWarnings } from '../../support/capture-warnings.js';
import { setUpForTest } from '../../support/live-telemetry.js';

const enabled = (): string[] => [...enabledSpanGroups()].sort();
const changes = (): string[] =>
  processState.changes.map(({ before, after, by }) => `${before} > ${after} ${by}`);

describe('the spec of a source', () => {
  let warnings: CapturedWarnings;
  beforeEach(async () => {
    warnings = captureWarnings();
    SpanRegistry.register('shop', ['orders', 'cache', 'payment']);
    await setUpForTest({ spanGroups: 'orders' });
  });

  it('T3: is in force above the configured one and below an override, and follows the registry', () => {
    applySourcedSpec('script', 'cache,late');
    expect([enabled(), [...pendingSpanGroups()]]).toEqual([['cache'], ['late']]);
    setSpanGroupSpec('payment');
    SpanRegistry.register('late_lib', ['late']);
    expect(enabled()).toEqual(['cache', 'late']);
    overrideSpanGroups('orders');
    applySourcedSpec('script', 'cache');
    expect(enabled()).toEqual(['orders']);
    clearSpanGroupOverride();
    expect(enabled()).toEqual(['cache']);
  });

  it('T2: leaves the configured spec in force once the source has none', () => {
    applySourcedSpec('script', 'cache');
    applySourcedSpec('script', undefined);
    expect(enabled()).toEqual(['orders']);
    applySourcedSpec('script', undefined);
    applySourcedSpec('script', '');
    expect(enabled()).toEqual([]);
    expect(changes()).toEqual(['orders > cache (script)', 'cache > orders (script)', 'orders >  (script)']);
  });

  it('W7: is reported once if the source gives it again and again, and is then known as that of the last source', () => {
    for (let i = 0; i < 3; i++) applySourcedSpec('script', 'cache,tpyo');
    expect(warnings.take()).toEqual(['SPEC_UNRESOLVED']);
    expect(changes()).toEqual(['orders > cache,tpyo (script)']);
    applySourcedSpec('another', 'cache,tpyo');
    expect(processState.sourced).toMatchObject({ source: 'another' });
  });

  it('T4: is only kept while the groups are pinned, and in force again once the pin is over', () => {
    applySourcedSpec('script', 'cache,tpyo');
    setEnabledSpanGroups(['payment']);
    warnings.take();
    applySourcedSpec('script', 'orders,oops');
    SpanRegistry.register('more', ['tpyo', 'step']);
    expect([enabled(), [...pendingSpanGroups()], warnings.take()]).toEqual([
      ['payment'],
      [],
      ['LATE_REGISTRATION'],
    ]);
    setSpanGroupSpec('all');
    expect([enabled(), [...pendingSpanGroups()]]).toEqual([['orders'], ['oops']]);
  });
});
