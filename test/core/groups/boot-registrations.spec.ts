import 'reflect-metadata';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  type DynamicModule,
  type INestApplication,
  type INestApplicationContext,
  Module,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { NestLensModule } from 'nest-lens';
import { SpanRegistry, traceFn } from 'nest-lens/core';
import { abandonBoot, beginBoot, endBoot } from '../../../src/core/groups/boot-registrations.js';
import { resetProcessState } from '../../../src/core/state/process-state.js';
import { captureWarnings, type CapturedWarnings } from '../../support/capture-warnings.js';
import { setUpForTest } from '../../support/live-telemetry.js';

const application = {};
let warnings: CapturedWarnings;
beforeEach(() => {
  warnings = captureWarnings();
});

const unowned = (): unknown[] =>
  warnings.all.filter(({ code }) => code === 'PRESET_MEMBER_UNREGISTERED').map(({ details }) => details);

describe('what is registered while an application boots', () => {
  it('R10: has its presets checked at the end of the boot, when the owner of a member may have come', () => {
    beginBoot(application);
    SpanRegistry.register('reports', ['report'], { default: ['report', 'db_query'], quiet: ['nobody'] });
    SpanRegistry.register('db', ['db_query']);
    expect(warnings.codes()).toEqual([]);
    endBoot();
    expect(unowned()).toEqual([{ namespace: 'reports', preset: 'quiet', members: ['nobody'] }]);
  });

  it('R10: is checked alone; what was registered before the boot was checked then', () => {
    SpanRegistry.register('before', [], { default: ['nobody'] });
    beginBoot(application);
    endBoot();
    expect(unowned()).toHaveLength(1);
  });

  it('R10: is not spoken of if it has gone by the end of the boot', () => {
    beginBoot(application);
    SpanRegistry.register('undecided', [], { default: ['nobody'] });
    SpanRegistry.unregister('undecided');
    endBoot();
    expect(warnings.codes()).toEqual([]);
  });

  it('R10: is kept when a second module says that the boot begins, and checked once when both say that it ends', () => {
    beginBoot(application);
    SpanRegistry.register('reports', [], { default: ['nobody'] });
    beginBoot(application);
    endBoot();
    endBoot();
    expect(unowned()).toHaveLength(1);
    SpanRegistry.register('later', [], { default: ['nobody'] });
    expect(unowned()).toHaveLength(2);
  });

  it.each<[string, 'forRoot' | 'forFeature', object]>([
    ['could not start', 'forRoot', { onModuleInit: () => Promise.reject(new Error('no database')) }],
    [
      'could not start, without forRoot',
      'forFeature',
      { onModuleInit: () => Promise.reject(new Error('no')) },
    ],
  ])('R10: is no longer waited for when an application closes that %s', async (_what, how, hooks) => {
    class RootModule {}
    const registrations = [{ namespace: 'reports', groups: [], presets: { default: ['nobody'] } }];
    const lens =
      how === 'forRoot'
        ? NestLensModule.forRoot({ registrations, config: { enabled: false } })
        : NestLensModule.forFeature(registrations[0]!);
    Module({ imports: [lens], providers: [{ provide: 'hooks', useValue: hooks }] })(RootModule);
    const app = await NestFactory.create(RootModule, { logger: false });
    await expect(app.init()).rejects.toThrow('no');
    await app.close();
    expect(unowned()).toEqual([]);
    SpanRegistry.register('later', [], { default: ['nobody'] });
    expect(unowned()).toEqual([{ namespace: 'later', preset: 'default', members: ['nobody'] }]);
  });

  it('R10: is no longer waited for when an application closes that was never initialised', async () => {
    class RootModule {}
    Module({ imports: [NestLensModule.forRoot({ config: { enabled: false } })] })(RootModule);
    await (await NestFactory.create(RootModule, { logger: false })).close();
    SpanRegistry.register('later', [], { default: ['nobody'] });
    expect(unowned()).toHaveLength(1);
  });

  it('R10: is still waited for when an application closes that has booted before', async () => {
    class RootModule {}
    Module({ imports: [NestLensModule.forRoot({ config: { enabled: false } })] })(RootModule);
    const before = await NestFactory.createApplicationContext(RootModule, { logger: false });
    beginBoot(application);
    SpanRegistry.register('reports', ['report'], { default: ['db_query'], quiet: ['nobody'] });
    await before.close();
    SpanRegistry.register('db', ['db_query']);
    expect(unowned()).toEqual([]);
    endBoot();
    expect(unowned()).toEqual([{ namespace: 'reports', preset: 'quiet', members: ['nobody'] }]);
  });

  it('R10: is still waited for when an application closes that could not start beside it', async () => {
    const boot = (imports: DynamicModule[], hooks: object = {}): Promise<INestApplication> => {
      class RootModule {}
      Module({ imports, providers: [{ provide: 'hooks', useValue: hooks }] })(RootModule);
      return NestFactory.create(RootModule, { logger: false });
    };
    const presets = { default: ['db_query'], quiet: ['nobody'] };
    const app = await boot([
      NestLensModule.forRoot({
        registrations: [{ namespace: 'reports', groups: ['report'], presets }],
        config: { enabled: false },
      }),
      NestLensModule.forFeature({ namespace: 'db', groups: ['db_query'] }),
    ]);
    const failing = await boot([NestLensModule.forRoot({ config: { enabled: false } })], {
      onModuleInit: () => Promise.reject(new Error('no database')),
    });
    await expect(failing.init()).rejects.toThrow('no database');
    await failing.close();
    await app.init();
    expect(unowned()).toEqual([{ namespace: 'reports', preset: 'quiet', members: ['nobody'] }]);
    await app.close();
  });

  it('R10: is no longer waited for when an application closes whose boot was ended by the one beside it', () => {
    beginBoot(application);
    beginBoot({});
    endBoot();
    abandonBoot(application);
    beginBoot(application);
    abandonBoot(application);
    SpanRegistry.register('later', [], { default: ['nobody'] });
    expect(unowned()).toHaveLength(1);
  });

  it('R10: is no longer waited for after a reset, as after a test whose application could not start', () => {
    beginBoot(application);
    resetProcessState();
    warnings = captureWarnings();
    SpanRegistry.register('reports', [], { default: ['nobody'] });
    expect(unowned()).toHaveLength(1);
  });

  it('W9: may be the group of a function that was traced before; who has none by then is told', async () => {
    await setUpForTest({ spanGroups: '' });
    beginBoot(application);
    for (const group of ['orders', 'payment']) traceFn(group, `${group}.list`)(() => 1);
    await Promise.resolve();
    SpanRegistry.register('shop', ['orders']);
    warnings.take();
    endBoot();
    expect(warnings.take()).toEqual(['UNKNOWN_GROUP_AT_SITE']);
    expect(warnings.all.at(-1)!.details).toMatchObject({ group: 'payment' });
  });
});

describe('a registration after a set-up', () => {
  const boot = (namespace: string, ...hooks: object[]): Promise<INestApplicationContext> => {
    class RootModule {}
    Module({
      imports: [
        NestLensModule.forRoot({ config: { enabled: true, exporter: 'none', metricsEnabled: false } }),
        NestLensModule.forFeature({ namespace, groups: [`${namespace}_group`] }),
      ],
      providers: hooks.map((useValue, place) => ({ provide: `hooks ${place}`, useValue })),
    })(RootModule);
    return NestFactory.createApplicationContext(RootModule, { logger: false });
  };
  const late = (): unknown[] =>
    warnings.all.filter(({ code }) => code === 'LATE_REGISTRATION').map(({ details }) => details);

  it('W5: is late in the boot of a second application, which shares the set-up of the first', async () => {
    const first = await boot('first');
    expect(late()).toEqual([]);
    const second = await boot('second');
    expect(late()).toEqual([{ namespace: 'second' }]);
    await second.close();
    await first.close();
  });

  it('W5: is in time in the boot of one that takes the place of the first, and late beside a boot', async () => {
    let letGo = (): void => undefined;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    const first = await boot('first', { beforeApplicationShutdown: () => held });
    const closed = first.close();
    await new Promise(setImmediate);
    SpanRegistry.register('nobodys', ['of_nobody']);
    expect(late()).toEqual([{ namespace: 'nobodys' }]);
    const second = await boot('second');
    expect(late()).toHaveLength(1);
    letGo();
    await closed;
    await second.close();
  });
});
