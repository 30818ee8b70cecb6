import { describe, expect, it } from 'vitest';
import { Controller, Get, Global, Inject, Injectable, Module, Scope } from '@nestjs/common';
import type {
  CanActivate,
  DynamicModule,
  ExecutionContext,
  OnApplicationBootstrap,
  OnModuleInit,
  Type,
} from '@nestjs/common';
import { LazyModuleLoader, NestFactory } from '@nestjs/core';
import { trace } from '@opentelemetry/api';
import { BasicTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import {
  enabledSpanGroups,
  isSpanGroupEnabled,
  managedSpan,
  NestLensModule,
  nestLensConfigFromEnv,
  pendingSpanGroups,
  setLensLogger,
  SpanGroup,
  SpanRegistry,
  SpanRegistryService,
} from 'nest-lens';
import type { NestLensModuleOptions } from 'nest-lens';
import { express, onEachPlatform } from '../support/adapters.js';
import {
  everythingSaid,
  guardEachTest,
  lensApp,
  namesOf,
  OpenSpanTracker,
  RecordingExporter,
  setEnv,
  until,
} from '../support/lens-app.js';
import type { Importable, LensAppBuilder } from '../support/lens-app.js';

/** A library's module, as an application imports it: registers by `forFeature`, or by itself in `onModuleInit`. */
function featureModule(group: string, ...imports: Importable[]): Type<unknown> {
  @Module({
    imports: [NestLensModule.forFeature({ namespace: `${group}_lib`, groups: [group] }), ...imports],
  })
  class FeatureModule {}
  return FeatureModule;
}

function globalFeatureModule(group: string): Type<unknown> {
  const Feature = featureModule(group);
  Global()(Feature);
  return Feature;
}

function selfRegistering(group: string): Type<unknown> {
  @Injectable()
  class Registering implements OnModuleInit {
    async onModuleInit(): Promise<void> {
      // Nest waits for asynchronous hooks, and so must the set-up.
      await new Promise((resolve) => setImmediate(resolve));
      SpanRegistry.register(`${group}_lib`, [group]);
    }
  }
  return Registering;
}

function moduleOf(parts: {
  imports?: Importable[];
  providers?: Type<unknown>[];
  global?: boolean;
}): DynamicModule {
  class PartModule {}
  return { module: PartModule, ...parts };
}

@Controller('orders')
class OrdersController {
  @Get()
  @SpanGroup('orders')
  list(): string[] {
    return ['one'];
  }
}

function codes(warnings: readonly { code: string }[]): string[] {
  return warnings.map((warning) => warning.code);
}

onEachPlatform('NestLensModule', (platform) => {
  describe('order of registration and set-up', () => {
    const orders: [string, (lens: LensAppBuilder) => LensAppBuilder, string[]][] = [
      [
        'feature module before it',
        (l) => l.imports(featureModule('a'), NestLensModule.forRoot(l.moduleOptions())),
        ['a'],
      ],
      [
        'feature module after it',
        (l) => l.imports(NestLensModule.forRoot(l.moduleOptions()), featureModule('a')),
        ['a'],
      ],
      [
        'feature modules before, after and below each other',
        (l) =>
          l.imports(
            featureModule('a', featureModule('b', featureModule('c'))),
            NestLensModule.forRoot(l.moduleOptions()),
            featureModule('d'),
          ),
        ['a', 'b', 'c', 'd'],
      ],
      [
        'forRoot below a feature module',
        (l) =>
          l.imports(
            featureModule(
              'a',
              moduleOf({ imports: [NestLensModule.forRoot(l.moduleOptions()), featureModule('b')] }),
            ),
            featureModule('c'),
          ),
        ['a', 'b', 'c'],
      ],
      [
        'global feature module before it',
        (l) => l.imports(globalFeatureModule('a'), NestLensModule.forRoot(l.moduleOptions())),
        ['a'],
      ],
      [
        'global feature module after it',
        (l) => l.imports(NestLensModule.forRoot(l.moduleOptions()), globalFeatureModule('a')),
        ['a'],
      ],
      [
        'forFeature at the root, several definitions at once',
        (l) =>
          l.imports(
            NestLensModule.forRoot(l.moduleOptions()),
            NestLensModule.forFeature(
              { namespace: 'x', groups: ['a'] },
              { namespace: 'y', groups: new Set(['b']) },
            ),
          ),
        ['a', 'b'],
      ],
      [
        'providers of the root that register in onModuleInit',
        (l) => l.imports(NestLensModule.forRoot(l.moduleOptions())).providers(selfRegistering('a')),
        ['a'],
      ],
      [
        'providers of a global module that comes later',
        (l) =>
          l.imports(
            NestLensModule.forRoot(l.moduleOptions()),
            moduleOf({ global: true, providers: [selfRegistering('a')] }),
          ),
        ['a'],
      ],
      [
        'registrations of forRoot',
        (l) =>
          l.imports(
            NestLensModule.forRoot(
              l.moduleOptions({
                registrations: [
                  { namespace: 'x', groups: ['a'] },
                  { namespace: 'y', groups: ['b'] },
                ],
              }),
            ),
          ),
        ['a', 'b'],
      ],
    ];

    it.each(orders)('N1: %s: every registration is in time', async (_title, arrange, groups) => {
      // Each group is named, so that one that comes late would be pending when the spec is first resolved.
      const lens = await arrange(lensApp(platform).spec(groups.join(',')).withoutRoot()).start();

      expect([...enabledSpanGroups()].sort()).toEqual(groups);
      expect(pendingSpanGroups().size).toBe(0);
      expect(codes(lens.warnings)).toEqual([]);
      expect(everythingSaid()).toEqual([]);
    });

    it('N1: a root module class that registers in its own onModuleInit is in time', async () => {
      const builder = lensApp(platform).spec('a').forRoot();
      class SelfRegisteringModule implements OnModuleInit {
        onModuleInit(): void {
          SpanRegistry.register('root_lib', ['a']);
        }
      }
      const lens = await builder.imports({ module: SelfRegisteringModule }).start();

      expect(isSpanGroupEnabled('a')).toBe(true);
      expect(codes(lens.warnings)).toEqual([]);
    });

    it('N1, T1: nothing is enabled while modules initialise, all is set up once they bootstrap', async () => {
      const seen: Record<string, string[]> = {};
      @Injectable()
      class Watching implements OnModuleInit, OnApplicationBootstrap {
        onModuleInit(): void {
          seen['init'] = [...enabledSpanGroups()];
        }

        onApplicationBootstrap(): void {
          seen['bootstrap'] = [...enabledSpanGroups()];
        }
      }
      await lensApp(platform).groups('orders').providers(Watching).start();

      expect(seen).toEqual({ init: [], bootstrap: ['orders'] });
    });

    it('N1: bootstrap work of feature modules is traced', async () => {
      @Injectable()
      class Warming implements OnApplicationBootstrap {
        async onApplicationBootstrap(): Promise<void> {
          await managedSpan('orders', 'warm up', async () => undefined);
        }
      }
      const lens = await lensApp(platform)
        .groups('orders')
        .imports(moduleOf({ providers: [Warming] }))
        .start();

      expect(namesOf(await lens.spans())).toEqual(['warm up']);
    });

    it('N1: the first request is traced', async () => {
      const lens = await lensApp(platform).groups('orders').controllers(OrdersController).start();
      await lens.get('/orders');

      expect(namesOf(await lens.spans())).toEqual(['OrdersController.list']);
    });

    it("N1: with setupAt 'init', work that modules do while they initialise is traced", async () => {
      @Injectable()
      class Loading implements OnModuleInit {
        onModuleInit(): void {
          managedSpan('orders', 'load', () => undefined);
        }
      }
      const lens = await lensApp(platform)
        .groups('orders')
        .forRoot({ setupAt: 'init' })
        .imports(moduleOf({ providers: [Loading] }))
        .start();

      expect(namesOf(await lens.spans())).toEqual(['load']);
      expect(codes(lens.warnings)).toEqual([]);
    });

    it("N1, T6, W5: with setupAt 'init', a feature module is late, said once, and takes effect all the same", async () => {
      const lens = await lensApp(platform)
        .groups('orders')
        .forRoot({ setupAt: 'init' })
        .imports(featureModule('late_group'))
        .start();

      expect(codes(lens.warnings)).toEqual(['LATE_REGISTRATION']);
      expect(isSpanGroupEnabled('late_group')).toBe(true);
    });

    it('N1: with modules told apart by their content, every forFeature registers', async () => {
      const lens = await lensApp(platform)
        .groups('orders')
        .applicationOptions({ moduleIdGeneratorAlgorithm: 'deep-hash' })
        .imports(
          featureModule('a'),
          featureModule('b'),
          NestLensModule.forFeature({ namespace: 'x', groups: ['c'] }),
        )
        .start();

      expect([...enabledSpanGroups()].sort()).toEqual(['a', 'b', 'c', 'orders']);
      expect(codes(lens.warnings)).toEqual([]);
    });

    it('N2: forFeature alone registers, and unregisters when the application closes', async () => {
      const lens = await lensApp(platform).imports(featureModule('a'), featureModule('b')).start();
      expect(SpanRegistry.namespaces()).toEqual(['a_lib', 'b_lib']);
      expect(enabledSpanGroups().size).toBe(0);
      await lens.close();

      expect(SpanRegistry.namespaces()).toEqual([]);
      expect(everythingSaid()).toEqual([]);
    });

    it('T6, W5: a lazily loaded provider that registers when it is made takes effect, said once', async () => {
      @Injectable()
      class Lazy {
        constructor() {
          SpanRegistry.register('lazy_lib', ['lazy_group']);
        }
      }
      const lens = await lensApp(platform).groups('orders').start();
      await lens.app.get(LazyModuleLoader).load(() => moduleOf({ providers: [Lazy] }));

      expect(isSpanGroupEnabled('lazy_group')).toBe(true);
      expect(codes(lens.warnings)).toEqual(['LATE_REGISTRATION']);
    });
  });

  describe('forRootAsync', () => {
    const configured = (lens: LensAppBuilder): NestLensModuleOptions =>
      lens.moduleOptions({ registrations: [{ namespace: 'shop', groups: ['orders'] }] });

    async function expectTraced(lens: LensAppBuilder): Promise<void> {
      const running = await lens.controllers(OrdersController).start();
      await running.get('/orders');

      expect(namesOf(await running.spans())).toEqual(['OrdersController.list']);
      expect((await running.get('/lens/groups')).status).toBe(200);
      expect(everythingSaid()).toEqual([]);
    }

    it('N1: a factory gets what it injects from the modules it imports', async () => {
      const lens = lensApp(platform);
      class Settings {
        readonly spec = 'orders';
      }
      const SettingsModule = { ...moduleOf({ providers: [Settings] }), exports: [Settings] };
      await expectTraced(
        lens.imports(
          NestLensModule.forRootAsync({
            imports: [SettingsModule],
            inject: [Settings],
            useFactory: async (settings: Settings) => {
              await new Promise((resolve) => setImmediate(resolve));
              const options = configured(lens);
              return { ...options, config: { ...options.config, spanGroups: settings.spec } };
            },
          }),
        ),
      );
    });

    it('N1: a class makes the options', async () => {
      const lens = lensApp(platform);
      @Injectable()
      class LensSettings {
        createNestLensOptions(): NestLensModuleOptions {
          return configured(lens);
        }
      }
      await expectTraced(lens.imports(NestLensModule.forRootAsync({ useClass: LensSettings })));
    });

    it('N1: an existing provider makes the options', async () => {
      const lens = lensApp(platform);
      @Injectable()
      class LensSettings {
        createNestLensOptions(): NestLensModuleOptions {
          return configured(lens);
        }
      }
      const SettingsModule = { ...moduleOf({ providers: [LensSettings] }), exports: [LensSettings] };
      await expectTraced(
        lens.imports(NestLensModule.forRootAsync({ imports: [SettingsModule], useExisting: LensSettings })),
      );
    });

    it('N7: guards of the route inject from the modules that it imports', async () => {
      class Tokens {
        readonly valid = 'let-me-in';
      }
      @Injectable()
      class TokenGuard implements CanActivate {
        constructor(@Inject(Tokens) private readonly tokens: Tokens) {}

        canActivate(execution: ExecutionContext): boolean {
          return execution.switchToHttp().getRequest().headers['x-token'] === this.tokens.valid;
        }
      }
      const builder = lensApp(platform);
      const TokensModule = { ...moduleOf({ providers: [Tokens] }), exports: [Tokens] };
      const lens = await builder
        .imports(
          NestLensModule.forRootAsync({
            imports: [TokensModule],
            useFactory: () => configured(builder),
            introspection: { guards: [TokenGuard] },
          }),
        )
        .start();

      expect((await lens.get('/lens/groups')).status).toBe(403);
      expect((await lens.get('/lens/groups', { headers: { 'x-token': 'let-me-in' } })).status).toBe(200);
    });

    it('C5: variables that another provider loads while the application starts are in force', async () => {
      const lens = lensApp(platform);
      const LoadingModule = {
        ...moduleOf({}),
        providers: [
          {
            provide: 'ENV_FILE',
            useFactory: async () => {
              await new Promise((resolve) => setImmediate(resolve));
              setEnv({
                NEST_LENS_ENABLED: 'true',
                NEST_LENS_SPAN_GROUPS: 'orders',
                NEST_LENS_EXPORTER: 'none',
                NEST_LENS_METRICS_ENABLED: 'false',
              });
              return 'loaded';
            },
          },
        ],
        exports: ['ENV_FILE'],
      };
      await expectTraced(
        lens.imports(
          NestLensModule.forRootAsync({
            imports: [LoadingModule],
            inject: ['ENV_FILE'],
            useFactory: (_loaded: string) => ({
              registrations: [{ namespace: 'shop', groups: ['orders', 'payment'] }],
              telemetry: lens.telemetry(),
            }),
          }),
        ),
      );
      expect(isSpanGroupEnabled('payment')).toBe(false);
    });
  });

  describe('configuration', () => {
    const ON = { NEST_LENS_ENABLED: 'true', NEST_LENS_EXPORTER: 'none', NEST_LENS_METRICS_ENABLED: 'false' };
    const registrations = [
      { namespace: 'shop', groups: ['orders', 'payment'], presets: { default: ['payment'] } },
    ];

    async function startWith(options: Partial<NestLensModuleOptions>, later: Record<string, string> = {}) {
      const builder = lensApp(platform);
      @Injectable()
      class LateEnv implements OnModuleInit {
        onModuleInit(): void {
          setEnv(later);
        }
      }
      const lens = await builder
        .imports(NestLensModule.forRoot({ registrations, telemetry: builder.telemetry(), ...options }))
        .providers(LateEnv)
        .start();
      return { lens, document: (await lens.get('/lens/groups')).json() };
    }

    it('C5: the environment is read when set-up runs, not when modules are imported or declared', async () => {
      const { document } = await startWith({}, { ...ON, NEST_LENS_SPAN_GROUPS: 'orders' });

      expect(document.enabled).toEqual(['orders']);
      expect(document.spec).toMatchObject({ configured: 'orders', source: 'NEST_LENS_SPAN_GROUPS' });
    });

    it('C5: explicit options beat the environment, key by key', async () => {
      setEnv({ ...ON, NEST_LENS_SPAN_GROUPS: 'payment' });
      const { document } = await startWith({ config: { spanGroups: 'orders' } });

      expect(document.enabled).toEqual(['orders']);
      expect(document.spec).toMatchObject({ configured: 'orders', source: 'options' });
    });

    it.each([
      ['spread', {}, { configured: 'all,-payment', source: 'SHOP_SPAN_GROUPS' }],
      [
        'spread and given another spec',
        { spanGroups: 'payment' },
        { configured: 'payment', source: 'options' },
      ],
    ])(
      'C1: a config from the environment that is %s says where its spec came from',
      async (_, over, spec) => {
        const env = { SHOP_SPAN_GROUPS: 'all,-payment' };
        const config = { ...nestLensConfigFromEnv({ prefix: 'SHOP', env }), enabled: true, ...over };
        const { document } = await startWith({ config });

        expect(document.spec).toMatchObject(spec);
      },
    );

    it('C5: an option that turns telemetry off beats a variable that turns it on', async () => {
      setEnv({ ...ON, NEST_LENS_SPAN_GROUPS: 'all' });
      const { document } = await startWith({ config: { enabled: false } });

      expect(document.telemetry).toEqual({ enabled: false, exporting: false, mode: null });
      expect(document.enabled).toEqual([]);
    });

    it('C5: an option that is undefined leaves the variable in force', async () => {
      setEnv({ ...ON, NEST_LENS_SPAN_GROUPS: 'payment' });
      const { document } = await startWith({ config: { spanGroups: undefined } });

      expect(document.spec).toMatchObject({ configured: 'payment', source: 'NEST_LENS_SPAN_GROUPS' });
    });

    it('C1: the fallback variables serve a process without its own', async () => {
      setEnv({ ...ON, NEMO_LENS_SPAN_GROUPS: 'orders' });
      const { document } = await startWith({});

      expect(document.spec).toMatchObject({ configured: 'orders', source: 'NEMO_LENS_SPAN_GROUPS' });
    });

    it('C1, C4: a prefix of its own is read, and an empty variable counts as unset', async () => {
      setEnv({
        SHOP_ENABLED: 'yes',
        SHOP_EXPORTER: 'none',
        SHOP_METRICS_ENABLED: 'no',
        SHOP_SPAN_GROUPS: 'orders',
        NEST_LENS_SPAN_GROUPS: 'payment',
        OTHER_SPAN_GROUPS: 'payment',
      });
      const { lens, document } = await startWith({ env: { prefix: 'SHOP', fallbackPrefix: 'OTHER' } });
      expect(document.spec).toMatchObject({ configured: 'orders', source: 'SHOP_SPAN_GROUPS' });
      await lens.close();

      setEnv({ SHOP_SPAN_GROUPS: '  ' });
      const { document: fallen } = await startWith({ env: { prefix: 'SHOP', fallbackPrefix: 'OTHER' } });
      expect(fallen.spec).toMatchObject({ configured: 'payment', source: 'OTHER_SPAN_GROUPS' });
    });

    it('C2: without options and variables telemetry is off', async () => {
      const builder = lensApp(platform);
      const lens = await builder.imports(NestLensModule.forRoot()).controllers(OrdersController).start();
      const document = (await lens.get('/lens/groups')).json();

      expect((await lens.get('/orders')).json()).toEqual(['one']);
      expect(document.telemetry).toEqual({ enabled: false, exporting: false, mode: null });
    });

    it('C2: enabled without a spec, the preset default is on', async () => {
      setEnv(ON);
      const { document } = await startWith({});

      expect(document.spec).toMatchObject({ configured: 'default', source: 'default', active: 'default' });
      expect(document.enabled).toEqual(['payment']);
    });
  });

  describe('imported more than once', () => {
    it('N2: forRoot twice with nothing else than registrations sets up once, registers both, says nothing', async () => {
      const lens = await lensApp(platform)
        .groups('orders')
        .imports(
          moduleOf({
            imports: [
              NestLensModule.forRoot({ registrations: [{ namespace: 'other', groups: ['payment'] }] }),
            ],
          }),
        )
        .controllers(OrdersController)
        .start();
      await lens.get('/orders');
      const document = (await lens.get('/lens/groups')).json();

      expect(document.namespaces).toEqual(['other', 'shop']);
      expect(document.enabled).toEqual(['orders', 'payment']);
      expect(namesOf(await lens.spans())).toEqual(['OrdersController.list']);
      expect(everythingSaid()).toEqual([]);
    });

    it('N2: a later forRoot with options of its own is warned about, once, and the first stays in force', async () => {
      const ignored = new RecordingExporter();
      const lens = await lensApp(platform)
        .groups('orders', 'payment')
        .spec('orders')
        .imports(
          moduleOf({
            imports: [
              NestLensModule.forRoot({
                registrations: [{ namespace: 'other', groups: ['stock'] }],
                config: { enabled: true, spanGroups: 'payment' },
                telemetry: { spanExporter: ignored },
              }),
            ],
          }),
        )
        .controllers(OrdersController)
        .start();
      await lens.get('/orders');

      expect(namesOf(await lens.spans())).toEqual(['OrdersController.list']);
      expect(ignored.spans).toEqual([]);
      expect([...enabledSpanGroups()]).toEqual(['orders']);
      expect(SpanRegistry.namespaces()).toEqual(['other', 'shop']);
      expect(lens.warnings).toMatchObject([
        {
          code: 'OPTIONS_IGNORED',
          message: expect.stringContaining('[config.spanGroups, telemetry.spanExporter]'),
          details: { reason: 'second forRoot', options: ['config.spanGroups', 'telemetry.spanExporter'] },
        },
      ]);
    });

    it('N2: a later forRoot adds no second route', async () => {
      const lens = await lensApp(platform)
        .groups('orders')
        .forRoot({ introspection: { path: 'first' } })
        .imports(
          moduleOf({ imports: [NestLensModule.forRoot({ introspection: { path: 'first' } })] }),
          moduleOf({ imports: [NestLensModule.forRoot()] }),
        )
        .start();

      expect((await lens.get('/first/groups')).status).toBe(200);
      expect((await lens.get('/lens/groups')).status).toBe(404);
    });

    it('N2: a later forRoot does not open a route that the first one left out', async () => {
      const lens = await lensApp(platform)
        .groups('orders')
        .forRoot({ introspection: false })
        .imports(moduleOf({ imports: [NestLensModule.forRoot()] }))
        .start();

      expect((await lens.get('/lens/groups')).status).toBe(404);
    });

    it('N2: forFeature several times with equal content is one registration, without a word', async () => {
      const library = (groups: Iterable<string>, presets: Record<string, Iterable<string>>) =>
        moduleOf({ imports: [NestLensModule.forFeature({ namespace: 'stock_lib', groups, presets })] });
      await lensApp(platform)
        .groups('orders')
        .imports(
          library(['stock', 'price'], { default: ['stock'], per_request: ['price'] }),
          library(new Set(['price', 'stock']), { per_request: new Set(['price']), default: ['stock'] }),
          moduleOf({
            imports: [library([' Stock ', 'PRICE'], { Default: ['stock'], per_request: ['Price'] })],
          }),
        )
        .start();

      expect(SpanRegistry.namespaces()).toEqual(['shop', 'stock_lib']);
      expect([...SpanRegistry.groups()].sort()).toEqual(['orders', 'price', 'stock']);
      expect(everythingSaid()).toEqual([]);
    });

    it('N2: the same forFeature in forRoot and in a feature module is one registration', async () => {
      const lens = await lensApp(platform)
        .groups('orders')
        .imports(NestLensModule.forFeature({ namespace: 'shop', groups: ['orders'] }))
        .start();

      expect(SpanRegistry.namespaces()).toEqual(['shop']);
      expect(everythingSaid()).toEqual([]);
      await lens.close();
      expect(SpanRegistry.namespaces()).toEqual([]);
    });
  });

  describe('two applications in one process', () => {
    const registrations = (namespace: string, ...groups: string[]) => ({
      registrations: [{ namespace, groups }],
    });

    it('N2: the second joins the live set-up, and its telemetry options are ignored with one warning', async () => {
      const first = await lensApp(platform).groups('orders').controllers(OrdersController).start();
      const second = await lensApp(platform).groups('orders').controllers(OrdersController).start();
      await first.get('/orders');
      await second.get('/orders');

      expect(namesOf(await first.spans())).toEqual(['OrdersController.list', 'OrdersController.list']);
      expect(second.exporter.spans).toEqual([]);
      expect(first.warnings).toHaveLength(1);
      expect(everythingSaid()).toHaveLength(1);
    });

    it('N2: a second application without telemetry options joins without a word', async () => {
      const first = await lensApp(platform).groups('orders').start();
      const builder = lensApp(platform);
      const second = await builder
        .imports(NestLensModule.forRoot(registrations('shop', 'orders')))
        .controllers(OrdersController)
        .start();
      await second.get('/orders');

      expect(namesOf(await first.spans())).toEqual(['OrdersController.list']);
      expect(everythingSaid()).toEqual([]);
    });

    it.each([
      ['the first', 0],
      ['the second', 1],
    ])(
      'N2: %s may close first, the other goes on, and the last close shuts down',
      async (_title, closing) => {
        const apps = [
          await lensApp(platform).groups('orders').controllers(OrdersController).start(),
          await lensApp(platform).groups('orders').controllers(OrdersController).start(),
        ] as const;
        const exporter = apps[0].exporter;
        const saidBefore = everythingSaid().length;
        const [leaving, staying] = closing === 0 ? apps : [apps[1], apps[0]];

        await leaving.close();
        await staying.get('/orders');
        expect(isSpanGroupEnabled('orders')).toBe(true);
        expect(exporter.shutdowns).toBe(0);
        expect((await staying.get('/lens/groups')).json().telemetry.enabled).toBe(true);

        await staying.close();
        expect(exporter.spans.map((span) => span.name)).toEqual(['OrdersController.list']);
        expect(exporter.shutdowns).toBe(1);
        expect(isSpanGroupEnabled('orders')).toBe(false);
        expect(SpanRegistry.namespaces()).toEqual([]);
        expect(everythingSaid()).toHaveLength(saidBefore);
      },
    );

    it('N2: a namespace leaves with the last application that registered it', async () => {
      const shared = { namespace: 'shared', groups: ['common'] };
      const first = await lensApp(platform)
        .forRoot({ registrations: [shared, { namespace: 'first', groups: ['a'] }] })
        .start();
      const second = await lensApp(platform)
        .forRoot({ registrations: [shared, { namespace: 'second', groups: ['b'] }] })
        .start();
      expect(SpanRegistry.namespaces()).toEqual(['first', 'second', 'shared']);

      await first.close();
      expect(SpanRegistry.namespaces()).toEqual(['second', 'shared']);
      expect(isSpanGroupEnabled('common')).toBe(true);
      expect(isSpanGroupEnabled('a')).toBe(false);

      await second.close();
      expect(SpanRegistry.namespaces()).toEqual([]);
    });

    it('N2: what the application registered by itself stays registered', async () => {
      SpanRegistry.register('plain_library', ['plain']);
      const lens = await lensApp(platform).groups('orders').start();
      await lens.close();

      expect(SpanRegistry.namespaces()).toEqual(['plain_library']);
    });

    it('H2: a disabled first application does not keep an enabled second one off', async () => {
      await lensApp(platform)
        .groups('orders')
        .forRoot({ config: { enabled: false } })
        .start();
      const second = await lensApp(platform).groups('orders').controllers(OrdersController).start();
      await second.get('/orders');

      expect(namesOf(await second.spans())).toEqual(['OrdersController.list']);
    });

    it('N2, H2: a disabled application beside a live one leaves it on', async () => {
      const first = await lensApp(platform).groups('orders').controllers(OrdersController).start();
      const second = await lensApp(platform)
        .groups('orders')
        .forRoot({ config: { enabled: false } })
        .start();
      await first.get('/orders');
      await second.close();
      await first.get('/orders');

      expect(namesOf(await first.spans())).toEqual(['OrdersController.list', 'OrdersController.list']);
    });

    it('H1: after the last close another application sets up, and only its exporter gets its spans', async () => {
      const exporters: RecordingExporter[] = [];
      for (const _round of [1, 2, 3]) {
        const lens = await lensApp(platform).groups('orders').controllers(OrdersController).start();
        exporters.push(lens.exporter);
        await lens.get('/orders');
        await lens.close();
      }

      expect(exporters.map((exporter) => exporter.spans.length)).toEqual([1, 1, 1]);
      expect(everythingSaid()).toEqual([]);
    });

    it('N2, H1: two that start at once share one set-up, and closing both at once ends it', async () => {
      const apps = await Promise.all(
        [1, 2].map(() => lensApp(platform).groups('orders').controllers(OrdersController).start()),
      );
      for (const lens of apps) await lens.get('/orders');
      const exporters = apps.map((lens) => lens.exporter);
      await Promise.all(apps.map((lens) => lens.close()));

      expect(exporters.map((exporter) => exporter.spans.length).sort()).toEqual([0, 2]);
      expect(exporters.map((exporter) => exporter.shutdowns).sort()).toEqual([0, 1]);
      expect(SpanRegistry.namespaces()).toEqual([]);
      expect(everythingSaid()).toHaveLength(1);
    });

    it('H1: one that starts while the last one still closes gets a set-up of its own', async () => {
      let release = (): void => undefined;
      const released = new Promise<void>((resolve) => (release = resolve));
      let closing = false;
      class Slow extends RecordingExporter {
        override async shutdown(): Promise<void> {
          closing = true;
          await released;
          await super.shutdown();
        }
      }
      const slow = new Slow();
      const first = await lensApp(platform)
        .groups('orders')
        .forRoot({ telemetry: { spanExporter: slow } })
        .start();
      const closed = first.close();
      expect(await until(() => closing)).toBe(true);
      const starting = lensApp(platform).groups('orders').controllers(OrdersController).start();
      await new Promise((resolve) => setTimeout(resolve, 20));
      release();
      await closed;
      const second = await starting;
      await second.get('/orders');

      expect(namesOf(await second.spans())).toEqual(['OrdersController.list']);
      expect(slow.spans).toEqual([]);
      expect(SpanRegistry.namespaces()).toEqual(['shop']);
    });

    it('N2: one with bad configuration joins a live one, which stays on at its start and at its close', async () => {
      const first = await lensApp(platform).groups('orders').controllers(OrdersController).start();
      setEnv({ NEST_LENS_ENABLED: 'maybe' });
      const builder = lensApp(platform);
      const second = await builder
        .imports(NestLensModule.forRoot({ registrations: [{ namespace: 'shop', groups: ['orders'] }] }))
        .start();
      await first.get('/orders');
      await second.close();
      await first.get('/orders');

      expect(namesOf(await first.spans())).toEqual(['OrdersController.list', 'OrdersController.list']);
    });

    it('N2: one that is closed before it was initialised leaves a live one alone', async () => {
      const first = await lensApp(platform).groups('orders').controllers(OrdersController).start();
      const second = await NestFactory.create(lensApp(platform).groups('orders').root(), platform.create(), {
        logger: false,
      });
      await second.close();
      await first.get('/orders');

      expect(namesOf(await first.spans())).toEqual(['OrdersController.list']);
      expect(SpanRegistry.namespaces()).toEqual(['shop']);
    });

    it('N2: an application that fails to start leaves nothing behind for the next one', async () => {
      @Injectable()
      class Failing implements OnApplicationBootstrap {
        onApplicationBootstrap(): void {
          throw new Error('no database');
        }
      }
      await expect(
        lensApp(platform)
          .groups('orders')
          .imports(moduleOf({ providers: [Failing] }))
          .start(),
      ).rejects.toThrow('no database');
      const lens = await lensApp(platform).groups('orders').controllers(OrdersController).start();
      await lens.get('/orders');

      expect(namesOf(await lens.spans())).toEqual(['OrdersController.list']);
      expect(SpanRegistry.namespaces()).toEqual(['shop']);
    });
  });

  describe('closing', () => {
    it('N2, H9: close flushes, shuts the exporter down once, turns groups off and says nothing', async () => {
      const lens = await lensApp(platform).groups('orders').controllers(OrdersController).start();
      await lens.get('/orders');
      await lens.close();

      expect(lens.exporter.spans.map((span) => span.name)).toEqual(['OrdersController.list']);
      expect(lens.exporter.shutdowns).toBe(1);
      expect(isSpanGroupEnabled('orders')).toBe(false);
      expect(SpanRegistry.namespaces()).toEqual([]);
      expect(everythingSaid()).toEqual([]);
    });

    it('H9: spans made while the application closes are exported', async () => {
      @Injectable()
      class Closing {
        onModuleDestroy(): void {
          managedSpan('orders', 'destroy', () => undefined);
        }

        async beforeApplicationShutdown(): Promise<void> {
          await managedSpan('orders', 'before shutdown', async () => undefined);
        }

        onApplicationShutdown(): void {
          managedSpan('orders', 'shutdown', () => undefined);
        }
      }
      const lens = await lensApp(platform)
        .groups('orders')
        .imports(moduleOf({ providers: [Closing] }))
        .start();
      await lens.close();

      expect(namesOf(lens.exporter.spans)).toEqual(['before shutdown', 'destroy', 'shutdown']);
    });

    it('H6: a tracer provider of the application is used, and is not shut down with the NestLens module', async () => {
      const exporter = new RecordingExporter();
      const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
      trace.setGlobalTracerProvider(provider);
      const builder = lensApp(platform);
      const lens = await builder
        .imports(
          NestLensModule.forRoot({
            registrations: [{ namespace: 'shop', groups: ['orders'] }],
            config: { enabled: true, spanGroups: 'orders', exporter: 'none', metricsEnabled: false },
          }),
        )
        .controllers(OrdersController)
        .start();
      await lens.get('/orders');
      const document = (await lens.get('/lens/groups')).json();
      await lens.close();

      expect(document.telemetry).toMatchObject({ enabled: true, mode: 'attach' });
      expect(exporter.spans.map((span) => span.name)).toEqual(['OrdersController.list']);
      expect(exporter.shutdowns).toBe(0);
      provider.getTracer('app').startSpan('still alive').end();
      expect(exporter.spans.map((span) => span.name)).toEqual(['OrdersController.list', 'still alive']);
    });

    it('H9: an exporter that never finishes holds the close up for the time limit, no longer', async () => {
      class Hanging extends RecordingExporter {
        override shutdown(): Promise<void> {
          return new Promise(() => undefined);
        }
      }
      const lens = await lensApp(platform)
        .groups('orders')
        .forRoot({ shutdownTimeoutMs: 100, telemetry: { spanExporter: new Hanging() } })
        .start();
      const from = Date.now();
      await lens.close();

      expect(Date.now() - from).toBeLessThan(1_500);
      expect(everythingSaid().length).toBeGreaterThan(0);
    });

    it('N2: closing twice is harmless', async () => {
      const lens = await lensApp(platform).groups('orders').start();
      await lens.close();
      await lens.app.close();

      expect(lens.exporter.shutdowns).toBe(1);
    });
  });

  describe('failures of telemetry', () => {
    async function expectServingWithGroupsOff(options: Partial<NestLensModuleOptions>): Promise<string> {
      const builder = lensApp(platform);
      const lens = await builder
        .imports(
          NestLensModule.forRoot({
            registrations: [{ namespace: 'shop', groups: ['orders'] }],
            telemetry: builder.telemetry(),
            ...options,
          }),
        )
        .controllers(OrdersController)
        .start();
      const reply = await lens.get('/orders');
      const document = (await lens.get('/lens/groups')).json();

      expect(reply.json()).toEqual(['one']);
      expect(document.telemetry).toEqual({ enabled: false, exporting: false, mode: null });
      expect(document.enabled).toEqual([]);
      expect(isSpanGroupEnabled('orders')).toBe(false);
      expect(lens.exporter.spans).toEqual([]);
      await lens.close();
      return everythingSaid().join('\n');
    }

    it('H12, C3: NEST_LENS_ENABLED=maybe is logged with what is allowed, and the application serves', async () => {
      setEnv({ NEST_LENS_ENABLED: 'maybe' });
      const said = await expectServingWithGroupsOff({});

      expect(said).toContain('NEST_LENS_ENABLED');
      expect(said).toContain('maybe');
      expect(said).toContain('true');
    });

    it('H12, C3: the fallback variable is named when it held the bad value', async () => {
      setEnv({ NEMO_LENS_ENABLED: 'perhaps' });

      expect(await expectServingWithGroupsOff({})).toContain('NEMO_LENS_ENABLED');
    });

    it('H12: an unknown exporter is logged, and the application serves', async () => {
      setEnv({ NEST_LENS_ENABLED: 'true', NEST_LENS_EXPORTER: 'zipkin' });
      const said = await expectServingWithGroupsOff({});

      expect(said).toContain('NEST_LENS_EXPORTER');
      expect(said).toContain('zipkin');
      expect(said).toContain('console');
    });

    it('H12: an unknown exporter among the options is logged, and the application serves', async () => {
      const said = await expectServingWithGroupsOff({
        config: { enabled: true, exporter: 'zipkin' as never },
      });

      expect(said).toContain('zipkin');
    });

    it("H12: bad configuration is logged with setupAt 'init' too", async () => {
      setEnv({ NEST_LENS_ENABLED: 'maybe' });

      expect(await expectServingWithGroupsOff({ setupAt: 'init' })).toContain('maybe');
    });

    it('H12: after a set-up that failed the next application sets up', async () => {
      setEnv({ NEST_LENS_ENABLED: 'maybe' });
      await expectServingWithGroupsOff({});
      const lens = await lensApp(platform).groups('orders').controllers(OrdersController).start();
      await lens.get('/orders');

      expect(namesOf(await lens.spans())).toEqual(['OrdersController.list']);
    });

    it.each([
      [
        'export throws',
        {
          export: (): void => {
            throw new Error('no collector');
          },
        },
      ],
      [
        'export reports a failure',
        {
          export: (_spans: unknown, done: (r: object) => void): void =>
            done({ code: 1, error: new Error('no collector') }),
        },
      ],
      ['flush rejects', { forceFlush: () => Promise.reject(new Error('no collector')) }],
      ['shutdown rejects', { shutdown: () => Promise.reject(new Error('no collector')) }],
      [
        'shutdown throws',
        {
          shutdown: () => {
            throw new Error('no collector');
          },
        },
      ],
    ])('H12: with an exporter whose %s the application starts, serves and closes', async (_title, faults) => {
      const exporter = Object.assign(new RecordingExporter(), faults);
      const lens = await lensApp(platform)
        .groups('orders')
        .forRoot({ shutdownTimeoutMs: 300, telemetry: { spanExporter: exporter } })
        .controllers(OrdersController)
        .start();

      expect((await lens.get('/orders')).json()).toEqual(['one']);
      await lens.close();
      expect(isSpanGroupEnabled('orders')).toBe(false);
    });

    it('H12: a span processor that throws when a span starts or ends does not reach the client', async () => {
      class Broken extends OpenSpanTracker {
        override onStart(): void {
          throw new Error('broken start');
        }

        override onEnd(): void {
          throw new Error('broken end');
        }
      }
      const lens = await lensApp(platform)
        .groups('orders')
        .forRoot({ telemetry: { spanProcessors: [new Broken()] } })
        .controllers(OrdersController)
        .start();
      const reply = await lens.get('/orders');

      expect(reply.status).toBe(200);
      expect(reply.json()).toEqual(['one']);
    });

    class Allowing implements CanActivate {
      canActivate(): boolean {
        return true;
      }
    }

    it.each([
      ['without guards', undefined],
      ['with an empty list of guards', [] as Type<CanActivate>[]],
    ])(
      'H12: runtimeControl %s is a wiring mistake: the application refuses to start, and says why',
      async (_t, guards) => {
        const start = async (): Promise<unknown> =>
          lensApp(platform)
            .groups('orders')
            .forRoot({ introspection: { runtimeControl: true, guards } as never })
            .start();

        await expect(start()).rejects.toThrow(/runtimeControl[^]*guard/);
      },
    );

    it('H12: runtimeControl with a guard starts', async () => {
      const lens = await lensApp(platform)
        .groups('orders')
        .forRoot({ introspection: { runtimeControl: true, guards: [Allowing] } })
        .start();

      expect((await lens.get('/lens/groups')).status).toBe(200);
    });
  });

  describe('SpanRegistryService', () => {
    it('N3: it is injectable in modules that do not import NestLensModule, one instance everywhere', async () => {
      const injected: SpanRegistryService[] = [];
      @Injectable()
      class Plain {
        constructor(@Inject(SpanRegistryService) registry: SpanRegistryService) {
          injected.push(registry);
        }
      }
      @Controller('scoped')
      class Scoped {
        constructor(@Inject(SpanRegistryService) registry: SpanRegistryService) {
          injected.push(registry);
        }

        @Get()
        get(): string {
          return 'ok';
        }
      }
      Injectable({ scope: Scope.REQUEST })(Scoped);
      const lens = await lensApp(platform)
        .groups('orders')
        .imports(moduleOf({ providers: [Plain], imports: [moduleOf({ providers: [Plain] })] }))
        .controllers(Scoped)
        .start();
      await lens.get('/scoped');
      await lens.get('/scoped');

      expect(injected.length).toBeGreaterThanOrEqual(4);
      expect(new Set(injected)).toEqual(new Set([lens.app.get(SpanRegistryService)]));
    });

    it('N3: it is injectable wherever forRoot is imported, also far below the root', async () => {
      const builder = lensApp(platform);
      const lens = await builder
        .imports(
          moduleOf({ imports: [moduleOf({ imports: [NestLensModule.forRoot(builder.moduleOptions())] })] }),
        )
        .providers({
          provide: 'REGISTRY_USER',
          useFactory: (registry: SpanRegistryService) => registry,
          inject: [SpanRegistryService],
        })
        .start();

      expect(lens.app.get('REGISTRY_USER')).toBe(lens.app.get(SpanRegistryService));
    });
  });
});

describe('NestLensModule without HTTP', () => {
  guardEachTest();

  it('W3: with no logger set, warnings go to Nest’s logger, under the name NestLens', async () => {
    const lens = await lensApp(express).groups('orders').spec('oders').withNestLogger().start();

    expect(lens.warnings).toEqual([]);
    expect(lens.logLines.filter((line) => line.level !== 'log')).toEqual([
      { level: 'warn', text: expect.stringMatching(/oders[^]*NestLens$/) },
    ]);
  });

  it('R19: a logger that throws keeps no application from starting, serving or closing', async () => {
    const lens = await lensApp(express)
      .groups('orders')
      .spec('oders,orders')
      .controllers(OrdersController)
      .start();
    setLensLogger({
      warn: () => {
        throw new Error('disk full');
      },
    });
    const second = await lensApp(express)
      .groups('orders')
      .withNestLogger()
      .imports(NestLensModule.forFeature({ namespace: 'late_lib', groups: ['late'] }))
      .controllers(OrdersController)
      .start();

    expect((await second.get('/orders')).status).toBe(200);
    await second.close();
    await lens.close();
    expect(SpanRegistry.namespaces()).toEqual([]);
  });

  it('N2: many applications started and closed one after the other leave no listener behind', async () => {
    const before = ['SIGTERM', 'SIGINT', 'exit', 'beforeExit', 'uncaughtException'].map((event) =>
      process.listenerCount(event),
    );
    for (let round = 0; round < 12; round += 1) {
      const lens = await lensApp(express).groups('orders').start();
      await lens.close();
    }

    expect(
      ['SIGTERM', 'SIGINT', 'exit', 'beforeExit', 'uncaughtException'].map((event) =>
        process.listenerCount(event),
      ),
    ).toEqual(before);
  });
});
