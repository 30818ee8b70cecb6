import { beforeEach, describe, expect, it } from 'vitest';
import { isSpanGroupEnabled, managedSpan, setEnabledSpanGroups, SpanRegistry } from 'nest-lens/core';
import { beginBoot, endBoot } from '../../../src/core/groups/boot-registrations.js';
import { beginCountingCalls, endCountingCalls } from '../../../src/core/groups/missed-calls.js';
import { processState } from '../../../src/core/state/process-state.js';
import { captureWarnings, type CapturedWarnings } from '../../support/capture-warnings.js';
import { setUpForTest } from '../../support/live-telemetry.js';

let warnings: CapturedWarnings;
beforeEach(() => {
  warnings = captureWarnings();
  SpanRegistry.register('shop', ['orders', 'order_read']);
});

const said = (): unknown[] =>
  warnings.all.filter(({ code }) => code === 'UNKNOWN_GROUP_AT_SITE').map(({ details }) => details);

describe('a call that names a group that nobody has registered', () => {
  it('W9: is said once a name after the set-up, with the nearest name', async () => {
    await setUpForTest({ spanGroups: 'orders' });
    for (let i = 0; i < 3; i++) {
      expect(managedSpan('oders', 'orders.list', (span) => span)).toBeUndefined();
      expect(managedSpan('ORDER_READ', 'orders.read', (span) => span)).toBeUndefined();
      expect(isSpanGroupEnabled('far_away')).toBe(false);
    }
    expect(said()).toEqual([
      { site: "managedSpan 'orders.list'", group: 'oders', nearest: 'orders' },
      { site: "managedSpan 'orders.read'", group: 'ORDER_READ', nearest: 'order_read' },
      { site: 'isSpanGroupEnabled', group: 'far_away', nearest: undefined },
    ]);
  });

  it('W9: names the group whose name differs in case alone, however short', async () => {
    SpanRegistry.register('disk', ['io']);
    await setUpForTest({ spanGroups: 'orders' });
    managedSpan('IO', 'disk.read', () => 1);
    expect(said()).toEqual([{ site: "managedSpan 'disk.read'", group: 'IO', nearest: 'io' }]);
  });

  it('W9: is said as well after an application that counted its calls until the set-up', async () => {
    beginCountingCalls();
    await setUpForTest({ spanGroups: 'orders' });
    endCountingCalls();
    managedSpan('oders', 'orders.list', () => 1);
    expect(said()).toHaveLength(1);
  });

  it('W9: is no matter before the set-up, while telemetry is off, and where groups are pinned', async () => {
    managedSpan('oders', 'a', () => 1);
    const handle = await setUpForTest({ spanGroups: 'orders' });
    setEnabledSpanGroups(['not_registered']);
    managedSpan('oders', 'a', () => 1);
    await handle.shutdown();
    managedSpan('oders', 'a', () => 1);
    expect(processState.noteOffCall).toBeUndefined();
    expect(said()).toEqual([]);
  });

  it('W9: is not said of a name that is registered, on or off, also late', async () => {
    await setUpForTest({ spanGroups: 'orders' });
    SpanRegistry.register('late', ['late_lib']);
    for (const group of ['orders', 'order_read', 'late_lib']) managedSpan(group, 'x', () => 1);
    expect(said()).toEqual([]);
  });

  it('W9: is looked for in a bounded number of calls and names, and anew after the next set-up', async () => {
    const handle = await setUpForTest({ spanGroups: 'orders' });
    for (let i = 0; i < 3_000; i++) managedSpan(`of_customer_${i}`, 'x', () => 1);
    expect(said()).toHaveLength(100);
    expect(processState.judgedNames.size).toBe(1_000);
    for (let i = 0; i < 100_000; i++) managedSpan('order_read', 'x', () => 1);
    expect(processState.noteOffCall).toBeUndefined();
    await handle.shutdown();
    await setUpForTest({ spanGroups: 'orders' });
    for (const group of ['of_customer_1', 'of_customer_2']) managedSpan(group, 'x', () => 1);
    expect(said()).toHaveLength(102);
  });

  it('W9: is no matter while an application boots, whose modules may register the group a moment later', async () => {
    await setUpForTest({ spanGroups: 'orders' });
    beginBoot({});
    managedSpan('late_lib', 'a', () => 1);
    SpanRegistry.register('late', ['late_lib']);
    endBoot();
    managedSpan('late_lib', 'a', () => 1);
    expect(said()).toEqual([]);
    managedSpan('oders', 'a', () => 1);
    expect(said()).toHaveLength(1);
  });

  it('W9: hands what is no name to the work as well', async () => {
    await setUpForTest({ spanGroups: 'orders' });
    for (const name of [undefined, null, 7, Symbol('group'), {}]) {
      expect(managedSpan(name as never, 'x', () => 'done')).toBe('done');
    }
    expect(said()).toEqual([]);
  });
});
