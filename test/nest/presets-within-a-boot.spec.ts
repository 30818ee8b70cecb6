import 'reflect-metadata';
import { describe, expect, it } from 'vitest';
import { Injectable, Module, type OnModuleInit } from '@nestjs/common';
import { LazyModuleLoader } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { defineSpanGroups, isSpanGroupEnabled, NestLensModule, SpanRegistry } from 'nest-lens';
import { express } from '../support/adapters.js';
import { captureWarnings } from '../support/capture-warnings.js';
import { guardEachTest, type Importable, lensApp } from '../support/lens-app.js';

const borrower = defineSpanGroups({
  namespace: 'reports',
  groups: ['report'],
  presets: { default: ['report', 'db_query'] } as never,
});
const lender = defineSpanGroups({ namespace: 'db', groups: ['db_query'] });

const moduleOf = (metadata: Parameters<typeof Module>[0]): Importable => {
  class AnyModule {}
  Module(metadata)(AnyModule);
  return AnyModule;
};
const codes = (warnings: readonly { code: string }[]): string[] => warnings.map(({ code }) => code);

describe('a preset that borrows a group of a definition that comes later', () => {
  guardEachTest();

  it.each<[string, () => Promise<readonly { code: string }[]>]>([
    [
      'forRoot from a feature module',
      async () => {
        const app = lensApp(express).forRoot({ registrations: [borrower] });
        return (await app.imports(NestLensModule.forFeature(lender)).start()).warnings;
      },
    ],
    [
      'one feature module from another',
      async () => {
        const features = [borrower, lender].map((definition) => NestLensModule.forFeature(definition));
        return (
          await lensApp(express)
            .forRoot({})
            .imports(...features)
            .start()
        ).warnings;
      },
    ],
    [
      'one definition of a list from the next',
      async () =>
        (
          await lensApp(express)
            .forRoot({ registrations: [borrower, lender] })
            .start()
        ).warnings,
    ],
    [
      'a feature module from one, without forRoot',
      async () => {
        const features = [borrower, lender].map((definition) => NestLensModule.forFeature(definition));
        return (
          await lensApp(express)
            .imports(...features)
            .start()
        ).warnings;
      },
    ],
    [
      "a provider's onModuleInit from a feature module that is initialised after it",
      async () => {
        @Injectable()
        class Reports implements OnModuleInit {
          onModuleInit(): void {
            SpanRegistry.register('reports', ['report'], { default: ['report', 'db_query'] });
          }
        }
        const inner = moduleOf({ providers: [Reports] });
        const outer = moduleOf({ imports: [inner, NestLensModule.forFeature(lender)] });
        return (await lensApp(express).forRoot({}).imports(outer).start()).warnings;
      },
    ],
  ])('R10: %s is no warning', async (_what, warningsOfStart) => {
    expect(codes(await warningsOfStart())).toEqual([]);
    expect(SpanRegistry.presets().get('default')).toEqual(new Set(['db_query', 'report']));
  });

  it('R10: one that nobody has registered by the end of the boot is said, once for each preset', async () => {
    const lens = await lensApp(express)
      .forRoot({ registrations: [borrower] })
      .imports(
        NestLensModule.forFeature({
          namespace: 'mail',
          groups: ['send'],
          presets: { default: ['send', 'tpyo'], per_request: ['tpyo'] },
        }),
      )
      .start();
    const said = lens.warnings.filter(({ code }) => code === 'PRESET_MEMBER_UNREGISTERED');
    expect(
      said.map(({ details }) => `${details.namespace as string}.${details.preset as string}`).sort(),
    ).toEqual(['mail.default', 'mail.per_request', 'reports.default']);
    expect(isSpanGroupEnabled('report')).toBe(true);
  });

  it('R10: from a feature module is no warning either when the application starts again after its close', async () => {
    const warnings = captureWarnings();
    const imports = [
      NestLensModule.forRoot({ registrations: [borrower], config: { enabled: false } }),
      NestLensModule.forFeature(lender),
    ];
    const testing = await Test.createTestingModule({ imports }).compile();
    for (let round = 1; round <= 2; round++) {
      const app = testing.createNestApplication();
      await app.init();
      await app.close();
    }
    expect(warnings.codes()).toEqual([]);
    SpanRegistry.register('later', [], { quiet: ['nobody'] });
    expect(warnings.codes()).toEqual(['PRESET_MEMBER_UNREGISTERED']);
  });

  it('R10: what registers after the boot is judged at once, also a module that is loaded lazily', async () => {
    const lens = await lensApp(express)
      .forRoot({ registrations: [{ namespace: 'shop', groups: ['orders'] }] })
      .start();
    const before = lens.warnings.length;
    await lens.app
      .get(LazyModuleLoader)
      .load(() => moduleOf({ imports: [NestLensModule.forFeature(borrower)] }) as never);
    expect(codes(lens.warnings.slice(before))).toContain('PRESET_MEMBER_UNREGISTERED');
    SpanRegistry.register('later', [], { quiet: ['nobody'] });
    expect(
      codes(lens.warnings.slice(before)).filter((code) => code === 'PRESET_MEMBER_UNREGISTERED'),
    ).toHaveLength(2);
  });

  it('R10: a namespace that is gone by the end of the boot is not spoken of', async () => {
    @Injectable()
    class Undecided implements OnModuleInit {
      onModuleInit(): void {
        SpanRegistry.register('undecided', [], { default: ['nobody'] });
        SpanRegistry.unregister('undecided');
      }
    }
    const lens = await lensApp(express)
      .forRoot({
        registrations: [{ namespace: 'shop', groups: ['orders'], presets: { default: ['orders'] } }],
      })
      .imports(moduleOf({ providers: [Undecided] }))
      .start();
    expect(codes(lens.warnings)).toEqual([]);
  });
});
