import 'reflect-metadata';
import { beforeEach, describe, expect, it } from 'vitest';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { NestLensModule } from 'nest-lens';
import {
  defineSpanGroups,
  isSpanGroupEnabled,
  managedSpan,
  setSpanGroupSpec,
  SpanRegistry,
  traceFn,
} from 'nest-lens/core';
import { readDefinition } from '../../../src/core/groups/span-group-definition.js';
import { registerDefinition } from '../../../src/core/groups/span-registry.js';
import { captureSpans } from '../../support/capture-spans.js';
import { captureWarnings, type CapturedWarnings } from '../../support/capture-warnings.js';
import { setUpForTest } from '../../support/live-telemetry.js';

const define = () =>
  defineSpanGroups({ namespace: 'shop', groups: ['orders', 'payment'], presets: { default: ['orders'] } });
const registered = (): string[] => [...SpanRegistry.groups()].sort();

let warnings: CapturedWarnings;
beforeEach(() => {
  warnings = captureWarnings();
});

describe('register() of a definition', () => {
  it('R2: registers the definition', () => {
    define().register();
    expect([registered(), SpanRegistry.namespaces()]).toEqual([['orders', 'payment'], ['shop']]);
    expect([...SpanRegistry.presets().get('default')!]).toEqual(['orders']);
  });

  it('R2: is what registers; to make a definition registers nothing', () => {
    define();
    expect(SpanRegistry.namespaces()).toEqual([]);
  });

  it('N2: of equal content does nothing the second time, in whatever order and case it is written', async () => {
    await setUpForTest({ spanGroups: 'default' });
    const shop = define();
    shop.register();
    warnings.take();
    shop.register();
    define().register();
    defineSpanGroups({
      namespace: 'shop',
      groups: ['Payment', 'orders', 'ORDERS'],
      presets: { Default: ['orders'] } as never,
      allowOverride: true,
    }).register();
    expect(warnings.take()).toEqual([]);
    expect(registered()).toEqual(['orders', 'payment']);
    SpanRegistry.unregister('shop');
    expect(registered()).toEqual([]);
  });

  it('N2: of what SpanRegistry.register registered does nothing either, and does it again after unregister', () => {
    SpanRegistry.register('shop', ['payment', 'orders'], { default: ['orders'] });
    define().register();
    SpanRegistry.unregister('shop');
    define().register();
    expect(registered()).toEqual(['orders', 'payment']);
  });

  it('R4: SpanRegistry.register of equal content is refused, as ever', () => {
    define().register();
    expect(() => SpanRegistry.register('shop', ['orders', 'payment'], { default: ['orders'] })).toThrow(
      expect.objectContaining({ code: 'NAMESPACE_REGISTERED' }),
    );
  });

  it.each([
    ['another group', { groups: ['orders', 'payment', 'cache'], presets: { default: ['orders'] } }],
    ['a group less', { groups: ['orders'], presets: { default: ['orders'] } }],
    ['another preset', { groups: ['orders', 'payment'], presets: { default: ['orders'], quiet: [] } }],
    ['a preset less', { groups: ['orders', 'payment'] }],
    ['another member', { groups: ['orders', 'payment'], presets: { default: ['payment'] } }],
  ])('R4: with %s it is refused, and both places are named', (_what, content) => {
    define().register();
    const other = defineSpanGroups({ namespace: 'shop', ...content });
    const place = /defineSpanGroups at [^ ]*define-span-groups\.spec\.ts:\d+:\d+/g;
    let message = '';
    try {
      other.register();
    } catch (error) {
      message = (error as Error).message;
    }
    expect(new Set(message.match(place)).size).toBe(2);
    expect(message).toContain('with differences: [');
    expect(registered()).toEqual(['orders', 'payment']);
  });

  it('N2: of other content takes the place of what its module registered before, once the process is set up', async () => {
    define().register();
    await setUpForTest();
    warnings.take();
    defineSpanGroups({ namespace: 'shop', groups: ['orders', 'cache'] }).register();
    expect([registered(), isSpanGroupEnabled('cache'), warnings.take()]).toEqual([
      ['cache', 'orders'],
      true,
      [],
    ]);
  });

  it('N2: of other content takes that place, too, while an application runs without telemetry, or closes', async () => {
    class RootModule {}
    Module({ imports: [NestLensModule.forRoot({ config: { enabled: false } })] })(RootModule);
    const app = await NestFactory.createApplicationContext(RootModule, { logger: false });
    define().register();
    defineSpanGroups({ namespace: 'shop', groups: ['orders', 'cache'] }).register();
    expect(registered()).toEqual(['cache', 'orders']);
    const closed = app.close();
    define().register();
    expect(registered()).toEqual(['orders', 'payment']);
    await closed;
    warnings.take();
    expect(() => defineSpanGroups({ namespace: 'shop', groups: ['cache'] }).register()).toThrow(
      expect.objectContaining({ code: 'NAMESPACE_REGISTERED' }),
    );
  });

  it('N2: of other content takes that place where an application closes that could not start', async () => {
    let letGo = (): void => undefined;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    const hooks = {
      onModuleInit: () => Promise.reject(new Error('no database')),
      onApplicationShutdown: () => held,
    };
    class RootModule {}
    Module({
      imports: [
        NestLensModule.forRoot({
          config: { enabled: true, exporter: 'none' },
          registrations: [{ namespace: 'app', groups: ['of_app'] }],
        }),
      ],
      providers: [{ provide: 'hooks', useValue: hooks }],
    })(RootModule);
    const app = await NestFactory.create(RootModule, { logger: false });
    define().register();
    await expect(app.init()).rejects.toThrow('no database');
    const closed = app.close();
    await new Promise(setImmediate);
    defineSpanGroups({ namespace: 'shop', groups: ['cache'] }).register();
    expect(registered()).toEqual(['cache', 'of_app']);
    letGo();
    await closed;
  });

  it('R4: of other content is refused where somebody else registered the namespace, also then', async () => {
    SpanRegistry.register('shop', ['orders']);
    await setUpForTest();
    expect(() => define().register()).toThrow(expect.objectContaining({ code: 'NAMESPACE_REGISTERED' }));
    SpanRegistry.unregister('shop');
    const elsewhere = {
      namespace: 'shop',
      groups: ['orders'],
      origin: { api: 'defineSpanGroups', stack: '  at x (/lib/x.js:1:1)' },
    };
    registerDefinition(readDefinition(elsewhere, 'defineSpanGroups'));
    expect(() => define().register()).toThrow(expect.objectContaining({ code: 'NAMESPACE_REGISTERED' }));
  });

  it('R5: its allowOverride replaces other content', () => {
    define().register();
    defineSpanGroups({ namespace: 'shop', groups: ['cache'], allowOverride: true }).register();
    expect(registered()).toEqual(['cache']);
  });
});

describe('group() of a definition', () => {
  it('R3 T8: gives the registered name, so that every site with it emits', () => {
    const spans = captureSpans();
    const shop = defineSpanGroups({ namespace: 'shop', groups: ['orderRead', ' Two Words '] });
    shop.register();
    setSpanGroupSpec('all');
    expect([shop.group('orderRead'), shop.group(' Two Words ')].sort()).toEqual(registered());
    managedSpan(shop.group('orderRead'), 'read', () => 1);
    traceFn(shop.group(' Two Words '), 'words')(() => 1)();
    expect(spans.names()).toEqual(['read', 'words']);
    expect(isSpanGroupEnabled(shop.group('orderRead'))).toBe(true);
  });

  it('R3: leaves the groups of the definition as they were given', () => {
    expect(defineSpanGroups({ namespace: 'shop', groups: ['orderRead'] }).groups).toEqual(['orderRead']);
  });
});
