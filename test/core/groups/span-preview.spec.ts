import { beforeEach, describe, expect, it } from 'vitest';
import { managedSpan, overrideSpanGroups, SpanRegistry, type TelemetryHandle, traceFn } from 'nest-lens/core';
import { holdGatesOpen } from '../../../src/core/groups/held-gates.js';
import { beginPreview } from '../../../src/core/groups/span-preview.js';
import { processState } from '../../../src/core/state/process-state.js';
import { setUpForTest } from '../../support/live-telemetry.js';

const query = traceFn('db_query', 'db.query')(() => 1);
const gatesAre = (): unknown => [
  processState.isAdmitted !== undefined,
  [...processState.open].sort(),
  [...processState.gates.values()].filter(({ enabled }) => enabled).map(({ name }) => name),
];

describe('a preview', () => {
  let handle: TelemetryHandle;
  beforeEach(async () => {
    SpanRegistry.register('shop', ['orders', 'db_query']);
    handle = await setUpForTest({ spanGroups: 'orders' });
  });

  it('counts, on or off, the groups that it was asked for and no other; then everything is as it was', () => {
    const gates = gatesAre();
    const preview = beginPreview(['db_query', 'orders'])!;
    query();
    query();
    managedSpan('orders', 'orders.place', query);
    expect([...preview.counts].map(([group, sites]) => [group, ...sites])).toEqual([
      ['db_query', ['db.query', 3]],
      ['orders', ['orders.place', 1]],
    ]);
    preview.end();
    preview.end();
    query();

    expect(gatesAre()).toEqual(gates);
    expect(preview.counts.get('db_query')!.get('db.query')).toBe(3);
  });

  it('names 200 sites of a group, and counts further ones together', () => {
    const preview = beginPreview(['orders'])!;
    for (let i = 0; i < 203; i++) managedSpan('orders', `site ${i}`, () => undefined);
    managedSpan('orders', 'site 7', () => undefined);
    preview.end();
    const sites = preview.counts.get('orders')!;
    expect([sites.size, sites.get('site 7'), sites.get('(other sites)')]).toEqual([201, 2, 3]);
  });

  it('leaves a group out that only somebody else holds open', () => {
    const letGo = holdGatesOpen(['db_query']);
    const preview = beginPreview(['orders'])!;
    expect(query()).toBe(1);
    preview.end();
    letGo();
    expect([...preview.counts.keys()]).toEqual(['orders']);
  });

  it('goes on while the spec changes, and leaves the gates to it', () => {
    const preview = beginPreview(['db_query'])!;
    query();
    overrideSpanGroups('db_query');
    query();
    expect(preview.counts.get('db_query')!.get('db.query')).toBe(2);
    preview.end();

    expect([...processState.open]).toEqual(['db_query']);
  });

  it('is alone in a process', () => {
    const first = beginPreview(['orders'])!;
    expect(beginPreview(['db_query'])).toBeUndefined();
    first.end();
    const second = beginPreview(['db_query'])!;
    first.end(); // ends nobody else's
    expect(processState.preview).toBe(second);
    second.end();
  });

  it('H1: ends when telemetry is shut down', async () => {
    const preview = beginPreview(['db_query'])!;
    await handle.shutdown();
    await preview.ended;
    expect([processState.isAdmitted !== undefined, processState.preview, processState.open.size]).toEqual([
      false,
      undefined,
      0,
    ]);
  });
});
