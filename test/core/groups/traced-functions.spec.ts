import 'reflect-metadata';
import { beforeEach, describe, expect, it } from 'vitest';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { NestLensModule } from 'nest-lens';
import { SpanRegistry, traceFn } from 'nest-lens/core';
import { captureWarnings, type CapturedWarnings } from '../../support/capture-warnings.js';
import { setUpForTest } from '../../support/live-telemetry.js';

const trace = (group: string, name: string) => traceFn(group, name)(() => 1);

let warnings: CapturedWarnings;
beforeEach(() => {
  warnings = captureWarnings();
});

const said = (): unknown[] =>
  warnings.all.filter(({ code }) => code === 'UNKNOWN_GROUP_AT_SITE').map(({ details }) => details);

describe('a function that is traced in a group that nobody has registered', () => {
  it('W9: is said when telemetry is set up, once for each group, with the nearest name', async () => {
    trace('oders', 'orders.list');
    trace('oders', 'orders.get');
    trace('far_away', 'far.away');
    trace(' ORDERS ', 'orders.put');
    SpanRegistry.register('shop', ['orders']);
    expect(warnings.codes()).toEqual([]);
    await setUpForTest({ spanGroups: 'orders' });
    expect(said()).toEqual([
      { site: "traceFn 'orders.list'", group: 'oders', nearest: 'orders' },
      { site: "traceFn 'far.away'", group: 'far_away', nearest: undefined },
    ]);
    trace('oders', 'orders.again');
    await Promise.resolve();
    expect(said()).toHaveLength(2);
  });

  it('W9: is said as well when it is wrapped after the set-up, unless its module registers in the next line', async () => {
    SpanRegistry.register('shop', ['orders']);
    await setUpForTest({ spanGroups: 'orders' });
    trace('late_typo', 'late.typo');
    trace('late_lib', 'late.lib');
    SpanRegistry.register('late', ['late_lib']);
    await Promise.resolve();
    expect(said()).toEqual([{ site: "traceFn 'late.typo'", group: 'late_typo', nearest: undefined }]);
  });

  it('W9: is said as well where the name of its span is no text', async () => {
    trace('oders', Symbol('list') as never);
    await setUpForTest({ spanGroups: 'orders' });
    expect(said()).toEqual([{ site: "traceFn 'symbol'", group: 'oders', nearest: undefined }]);
  });

  it('W9: is no matter while telemetry is off', async () => {
    trace('oders', 'orders.list');
    await setUpForTest({ enabled: false });
    trace('other', 'other.list');
    await Promise.resolve();
    expect(warnings.codes()).toEqual([]);
  });

  it('W9: is said for a bounded number of groups', async () => {
    SpanRegistry.register('shop', ['orders']);
    for (let i = 0; i < 3_000; i++) trace(`of_customer_${i}`, 'x');
    await setUpForTest({ spanGroups: 'orders' });
    expect(said()).toHaveLength(1_000);
  });

  it('W9: of an application is judged when every module has registered, also with setupAt: init', async () => {
    trace('cache_read', 'cache.read');
    trace('cache_raed', 'cache.raed');
    class RootModule {}
    Module({
      imports: [
        NestLensModule.forRoot({
          setupAt: 'init',
          config: { enabled: true, exporter: 'none', metricsEnabled: false, spanGroups: '' },
        }),
        NestLensModule.forFeature({ namespace: 'cache', groups: ['cache_read'] }),
      ],
    })(RootModule);
    const app = await NestFactory.createApplicationContext(RootModule, { logger: false });
    expect(said()).toEqual([{ site: "traceFn 'cache.raed'", group: 'cache_raed', nearest: 'cache_read' }]);
    await app.close();
  });
});
