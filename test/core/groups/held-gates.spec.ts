import { beforeEach, describe, expect, it } from 'vitest';
import { context } from '@opentelemetry/api';
import { SpanGroup } from 'nest-lens';
import { isSpanGroupEnabled, managedSpan, setSpanGroupSpec, SpanRegistry, traceFn } from 'nest-lens/core';
import { holdGatesOpen } from '../../../src/core/groups/held-gates.js';
import { beginPreview } from '../../../src/core/groups/span-preview.js';
import { withOptedInGroups } from '../../../src/core/groups/opted-in-groups.js';
import { processState } from '../../../src/core/state/process-state.js';
import { captureSpans, type CapturedSpans } from '../../support/capture-spans.js';

class Orders {
  @SpanGroup('orders')
  place(): boolean {
    return isSpanGroupEnabled('orders');
  }
}

const list = traceFn('orders', 'orders.list')(() => 1);
const callAll = (): void => {
  new Orders().place();
  list();
  managedSpan('orders', 'orders.managed', () => 1);
};
const NAMES = ['Orders.place', 'orders.list', 'orders.managed'];

describe('a gate that is held open for another reason than the spec', () => {
  let spans: CapturedSpans;
  beforeEach(() => {
    spans = captureSpans();
    SpanRegistry.register('shop', ['orders', 'cache']);
    setSpanGroupSpec('cache');
  });

  it('I1: makes no span by itself, and the group is still off', () => {
    const letGo = holdGatesOpen(['orders']);
    callAll();
    expect(isSpanGroupEnabled('orders')).toBe(false);
    letGo();
    expect(spans.names()).toEqual([]);
  });

  it('I1: makes spans in a context that has opted in, and nowhere else', () => {
    const letGo = holdGatesOpen(['orders']);
    callAll();
    const inside = withOptedInGroups(context.active(), new Set(['orders']));
    context.with(inside, callAll);
    expect(context.with(inside, () => new Orders().place())).toBe(true);
    callAll();
    letGo();
    context.with(inside, callAll);
    expect(spans.names().sort()).toEqual([...NAMES, 'Orders.place'].sort());
  });

  it('I1: follows the spec as soon as nobody holds it, and stays open until the last has let go', () => {
    const [first, second] = [holdGatesOpen(['orders']), holdGatesOpen(['orders', 'orders'])];
    first();
    first();
    expect([...processState.open].sort()).toEqual(['cache', 'orders']);
    setSpanGroupSpec('orders');
    second();
    expect([processState.isAdmitted !== undefined, ...processState.open]).toEqual([false, 'orders']);
    callAll();
    expect(spans.names().sort()).toEqual(NAMES);
  });

  it('I1: leaves a group that is on as it is', () => {
    setSpanGroupSpec('orders');
    const letGo = holdGatesOpen(['orders', 'cache']);
    callAll();
    letGo();
    expect(spans.names().sort()).toEqual(NAMES);
  });

  it('I1: a preview counts the calls of each site, on or off, once each', () => {
    const preview = beginPreview(['orders'])!;
    callAll();
    setSpanGroupSpec('orders');
    callAll();
    const counted = preview.counts.get('orders');
    preview.end();
    callAll();
    expect([...counted!].sort()).toEqual(NAMES.map((name) => [name, 2]));
  });
});
