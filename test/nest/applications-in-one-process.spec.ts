import { describe, expect, it } from 'vitest';
import { Controller, Get, Injectable, Module, UseInterceptors } from '@nestjs/common';
import { LazyModuleLoader, NestFactory } from '@nestjs/core';
import {
  clearSpanGroupOverride,
  defineSpanGroups,
  isSpanGroupEnabled,
  managedSpan,
  nestLensConfigFromEnv,
  NestLensModule,
  overrideSpanGroups,
  SpanGroup,
  SpanGroupInterceptor,
  SpanRegistry,
} from 'nest-lens';
import type { NestLensModuleOptions } from 'nest-lens';
import { TelemetryLifecycle } from '../../src/nest/telemetry.lifecycle.js';
import { processState } from '../../src/core/state/process-state.js';
import { setUpForTest } from '../support/live-telemetry.js';
import { express, onEachPlatform } from '../support/adapters.js';
import {
  edgeHooksOf,
  guardEachTest,
  lensApp,
  type LensApp,
  type LensAppBuilder,
  namesOf,
  RecordingExporter,
  setEnv,
  until,
} from '../support/lens-app.js';

/** An attribute of the resource with which no set-up succeeds. */
const REFUSING: NonNullable<NestLensModuleOptions['telemetry']> = {
  resourceAttributes: Object.defineProperty({}, 'refused', {
    enumerable: true,
    get: () => {
      throw new Error('refused');
    },
  }),
};

/** An exporter whose shutdown waits until it is let go. */
class HeldExporter extends RecordingExporter {
  letGo = (): void => undefined;
  isClosing = false;
  private readonly held = new Promise<void>((resolve) => (this.letGo = resolve));

  override async shutdown(): Promise<void> {
    this.isClosing = true;
    await this.held;
    await super.shutdown();
  }
}

@Controller('orders')
class OrdersController {
  @Get()
  @SpanGroup('orders')
  list(): string[] {
    return ['one'];
  }
}

const SHOP = { registrations: [{ namespace: 'shop', groups: ['orders'] }] };

const codesOf = ({ warnings }: LensApp): string[] => warnings.map(({ code }) => code);

/** An override is refused while the process is pinned, and only then. */
function isPinned(): boolean {
  try {
    overrideSpanGroups('');
    clearSpanGroupOverride();
    return false;
  } catch (error) {
    expect(error).toMatchObject({ code: 'PINNED' });
    return true;
  }
}

onEachPlatform('applications in one process', (platform) => {
  const orders = (): LensAppBuilder => lensApp(platform).groups('orders').controllers(OrdersController);

  it("N2: closing one of two applications twice leaves the other's telemetry on", async () => {
    const first = await orders().start();
    const second = await orders().start();
    await first.close();
    await first.app.close();
    await second.get('/orders');

    expect(isSpanGroupEnabled('orders')).toBe(true);
    expect(SpanRegistry.namespaces()).toEqual(['shop']);
    expect((await second.get('/lens/groups')).json().telemetry.enabled).toBe(true);
    await second.close();
    expect(first.exporter.spans.map((span) => span.name)).toEqual(['OrdersController.list']);
    expect(first.exporter.shutdowns).toBe(1);
  });

  describe('beside a set-up that the application made itself', () => {
    const ways: [string, () => NestLensModuleOptions, string[]][] = [
      ['disabled by default', () => ({}), []],
      [
        'enabled by the environment',
        () => {
          setEnv({ NEST_LENS_ENABLED: 'true', NEST_LENS_EXPORTER: 'none' });
          return {};
        },
        [],
      ],
      ['disabled by an option', () => ({ config: { enabled: false } }), ['OPTIONS_IGNORED']],
      ['enabled by an option, as it is', () => ({ config: { enabled: true } }), []],
      ['with another spec', () => ({ config: { spanGroups: 'all' } }), ['OPTIONS_IGNORED']],
      [
        'with an exporter',
        () => ({ telemetry: { spanExporter: new RecordingExporter() } }),
        ['OPTIONS_IGNORED'],
      ],
    ];

    it.each(ways)(
      'N2: forRoot %s leaves it alone, and warns only of options',
      async (_title, options, said) => {
        SpanRegistry.register('shop', ['orders']);
        const exporter = new RecordingExporter();
        const handle = await setUpForTest({ spanGroups: 'orders' }, { spanExporter: exporter });
        const lens = await lensApp(platform)
          .imports(NestLensModule.forRoot({ ...SHOP, ...options() }))
          .controllers(OrdersController)
          .start();
        await lens.get('/orders');
        const document = (await lens.get('/lens/groups')).json();
        await lens.close();
        managedSpan('orders', 'after the close', () => undefined);

        expect(codesOf(lens)).toEqual(said);
        expect(document.telemetry).toMatchObject({ enabled: true, exporting: true, mode: 'own' });
        expect(exporter.shutdowns).toBe(0);
        await handle.shutdown();
        expect(exporter.spans.map((span) => span.name)).toEqual(['OrdersController.list', 'after the close']);
      },
    );
  });

  describe('whose options are those of the one that set up', () => {
    const exporter = new RecordingExporter();
    const DEFAULTS: NestLensModuleOptions = {
      config: { enabled: true, spanGroups: 'all', exporter: 'none', metricsEnabled: false },
      telemetry: {
        spanExporter: exporter,
        resourceAttributes: { 'shop.name': 'anvils', 'shop.tags': ['a'] },
      },
    };
    /** What the second one is told, with these options over those of both. */
    async function ignoredIn(given: NestLensModuleOptions): Promise<unknown[]> {
      const [first, second] = [DEFAULTS, given].map((options) =>
        lensApp(platform).imports(NestLensModule.forRoot({ ...SHOP, ...options })),
      );
      await first!.start();
      const { warnings } = await second!.start();
      return warnings.map(({ details }) => details['options']);
    }
    const { config, telemetry } = DEFAULTS;

    it.each<[string, () => NestLensModuleOptions]>([
      ['the same objects', () => DEFAULTS],
      [
        'a copy of them',
        () => ({
          config: { ...config },
          telemetry: structuredClone({ ...telemetry, spanExporter: undefined }),
        }),
      ],
      ['a part of them', () => ({ config: { enabled: true } })],
      ['none', () => ({})],
      [
        'none of them, spelt out',
        () => ({ config: {}, env: {}, telemetry: {}, shutdownTimeoutMs: 9, setupAt: 'init' }),
      ],
      [
        'those of the environment',
        () => {
          setEnv({ NEST_LENS_ENABLED: 'yes', NEST_LENS_SPAN_GROUPS: 'all', NEST_LENS_EXPORTER: 'none' });
          return { config: { ...nestLensConfigFromEnv(), metricsEnabled: false } };
        },
      ],
    ])('N2: %s, is told nothing', async (_what, given) => {
      expect(await ignoredIn(given())).toEqual([]);
    });

    it.each<[string, NestLensModuleOptions, string[]]>([
      [
        'another exporter',
        { telemetry: { spanExporter: new RecordingExporter() } },
        ['telemetry.spanExporter'],
      ],
      [
        'a spec and a name',
        { config: { enabled: true, spanGroups: 'orders', serviceName: 'a' } },
        ['config.serviceName', 'config.spanGroups'],
      ],
      ['that it is off', { config: { enabled: false } }, ['config.enabled']],
      ['other variables', { env: { prefix: 'WORKER' } }, ['env']],
      [
        'another resource',
        { telemetry: { resourceAttributes: { 'shop.name': 'nails' } } },
        ['telemetry.resourceAttributes'],
      ],
      ['a run of its own', { config: { runId: 'seven' } }, ['config.runId']],
    ])('N2: but for %s, is told which', async (_what, given, names) => {
      expect(await ignoredIn(given)).toEqual([names]);
    });
  });

  describe('the routes of a controller', () => {
    const prefixed = (prefix: string): LensAppBuilder =>
      orders().configure((app) => void app.setGlobalPrefix(prefix));
    const routesOf = ({ exporter }: LensApp): unknown[] =>
      exporter.spans.map((span) => span.attributes['http.route']);
    const siteRoute = async (lens: LensApp, prefix: string): Promise<string> =>
      (await lens.get(`/${prefix}/lens/groups?sites=1`)).json().groups[0].siteList[0].route;

    it('I10: in applications one after another, each span has the route of its own one', async () => {
      for (const prefix of ['one', 'two', 'three']) {
        const lens = await prefixed(prefix).start();
        await lens.get(`/${prefix}/orders`);
        expect(await siteRoute(lens, prefix)).toBe(`GET /${prefix}/orders`);
        await lens.close();

        expect(routesOf(lens)).toEqual([`/${prefix}/orders`]);
      }
    });

    it('I10: with both live at once, the route depends on the request and is left out, and no longer', async () => {
      const first = await prefixed('one').start();
      await first.get('/one/orders');
      const second = await prefixed('two').start();
      await first.get('/one/orders');
      await second.get('/two/orders');
      expect([await siteRoute(first, 'one'), await siteRoute(second, 'two')]).toEqual([
        'GET /one/orders',
        'GET /two/orders',
      ]);
      await second.close();
      await first.get('/one/orders');
      await first.close();

      expect(routesOf(first)).toEqual(['/one/orders', undefined, undefined, '/one/orders']);
    });

    it('I10: with both live at once and the same route in both, it is there', async () => {
      const first = await prefixed('one').start();
      const second = await prefixed('one').start();
      await second.get('/one/orders');
      await first.spans();

      expect(routesOf(first)).toEqual(['/one/orders']);
    });

    it('I10, N6: the same holds for the span of the interceptor', async () => {
      @Controller('orders')
      @UseInterceptors(SpanGroupInterceptor)
      class InterceptedController extends OrdersController {}
      const start = (prefix: string): Promise<LensApp> =>
        lensApp(platform)
          .groups('orders')
          .controllers(InterceptedController)
          .configure((app) => void app.setGlobalPrefix(prefix))
          .start();
      const first = await start('one');
      await first.get('/one/orders');
      const second = await start('two');
      await first.get('/one/orders');
      await first.close();
      await second.get('/two/orders');
      await second.spans();

      expect(routesOf(first)).toEqual(['/one/orders', undefined, '/two/orders']);
    });
  });

  describe('one that starts while the one before it closes, as after a hot reload', () => {
    /** The application before; its close ends when it is let go. */
    const closing = async (): Promise<{ first: LensApp; closed: Promise<void>; letGo: () => void }> => {
      let letGo = (): void => undefined;
      const held = new Promise<void>((resolve) => (letGo = resolve));
      let hasBegun = false;
      class SlowToClose {
        beforeApplicationShutdown(): Promise<void> {
          hasBegun = true;
          return held;
        }
      }
      const first = await orders().providers(SlowToClose).start();
      const closed = first.close();
      expect(await until(() => hasBegun)).toBe(true);
      return { first, closed, letGo };
    };

    it('N2, T6: has options of its own when that is over, and nothing is said', async () => {
      const { first, closed, letGo } = await closing();
      const second = await lensApp(platform)
        .groups('orders', 'returns')
        .controllers(OrdersController)
        .spec('orders,returns')
        .start();
      managedSpan('orders', 'of the close', () => undefined);
      letGo();
      await closed;
      expect(await until(() => isSpanGroupEnabled('returns'))).toBe(true);
      managedSpan('returns', 'of the second', () => undefined);
      await second.spans();

      expect(namesOf(first.exporter.spans)).toEqual(['of the close']);
      expect(namesOf(second.exporter.spans)).toEqual(['of the second']);
      expect(codesOf(second)).toEqual([]);
    });

    it('N2: may have a module that registers by its import, evaluated again with one group more', async () => {
      const define = (...groups: string[]) => defineSpanGroups({ namespace: 'imported', groups });
      define('loaded').register();
      const first = await orders().spec('all').start();
      const closed = first.close();
      define('loaded', 'added').register(); // in the turn in which the close is asked for
      const second = await orders().spec('all').start();
      await closed;
      expect(await until(() => processState.telemetry.phase === 'live')).toBe(true);
      managedSpan('added', 'of the second', () => undefined);

      expect(namesOf(await second.spans())).toEqual(['of the second']);
      expect([...codesOf(first), ...codesOf(second)]).toEqual([]);
    });

    it('N2: two of them share one set-up, when that is over', async () => {
      const { closed, letGo } = await closing();
      const [second, third] = [await orders().start(), await orders().start()];
      letGo();
      await closed;
      expect(await until(() => isSpanGroupEnabled('orders'))).toBe(true);
      managedSpan('orders', 'of both', () => undefined);
      await second.close();
      await third.close();

      expect([...namesOf(second.exporter.spans), ...namesOf(third.exporter.spans)]).toEqual(['of both']);
    });

    it('N2, T4: which is disabled, pins the groups when that is over', async () => {
      const { closed, letGo } = await closing();
      const second = await orders()
        .forRoot({ config: { enabled: false } })
        .start();
      expect(isSpanGroupEnabled('orders')).toBe(true);
      letGo();
      await closed;

      expect(await until(() => isPinned())).toBe(true);
      await second.close();
      expect(isPinned()).toBe(false);
    });
  });

  describe('one that is disabled', () => {
    const disabled = (): Promise<LensApp> =>
      orders()
        .forRoot({ config: { enabled: false } })
        .start();

    it('T4: started while a live one closes, it stays pinned, and until it closes itself', async () => {
      const exporter = new HeldExporter();
      const first = await orders()
        .forRoot({ telemetry: { spanExporter: exporter } })
        .start();
      const closed = first.close();
      expect(await until(() => exporter.isClosing)).toBe(true);
      const second = await disabled();
      expect(isPinned()).toBe(true);
      exporter.letGo();
      await closed;

      expect(isPinned()).toBe(true);
      expect((await second.get('/lens/groups')).json().spec.pinned).toBe(true);
      await second.close();
      expect(isPinned()).toBe(false);
    });

    const failures: [string, () => Promise<LensApp>, string[]][] = [
      ['that is disabled', disabled, []],
      [
        'whose configuration is invalid',
        () =>
          orders()
            .forRoot({ config: { exporter: 'zipkin' as never } })
            .start(),
        ['CONFIG_INVALID'],
      ],
      ['whose set-up failed', () => orders().forRoot({ telemetry: REFUSING }).start(), ['SETUP_FAILED']],
    ];

    it.each(failures)('T4: an application %s pins the process until it closes', async (_t, start, said) => {
      const lens = await start();
      expect(isPinned()).toBe(true);
      await lens.close();

      expect(isPinned()).toBe(false);
      expect(codesOf(lens)).toEqual(said);
    });
  });

  describe('a set-up that fails', () => {
    const refused = (): LensAppBuilder => orders().forRoot({ telemetry: REFUSING });

    it("H4: two that start at once: the first one's fails, and the second one's own works", async () => {
      const second = orders();
      const [, lens] = await Promise.all([refused().start(), second.start()]);
      await lens.get('/orders');

      expect(namesOf(await lens.spans())).toEqual(['OrdersController.list']);
      expect(codesOf(lens)).toEqual(['SETUP_FAILED']);
    });

    it('H4: of several that start at once, the first whose set-up works serves the rest', async () => {
      const [, , lens, last] = await Promise.all(
        [refused(), refused(), orders(), orders()].map((builder) => builder.start()),
      );
      await lens!.get('/orders');
      await last!.get('/orders');
      const exporters = [lens!.exporter, last!.exporter];
      await lens!.spans();

      expect(exporters.map((exporter) => exporter.spans.length).sort()).toEqual([0, 2]);
      expect(codesOf(last!)).toEqual(['SETUP_FAILED', 'SETUP_FAILED', 'OPTIONS_IGNORED']);
    });
  });

  describe('a feature module that is loaded lazily', () => {
    @Module({ imports: [NestLensModule.forFeature({ namespace: 'lazy_lib', groups: ['lazy'] })] })
    class LazyModule {}

    it('N1, W5: its groups are registered at once, which is late', async () => {
      const lens = await orders().start();
      await lens.app.get(LazyModuleLoader).load(() => LazyModule);

      expect(isSpanGroupEnabled('lazy')).toBe(true);
      expect(lens.warnings.map(({ code, details }) => [code, details])).toEqual([
        ['LATE_REGISTRATION', { namespace: 'lazy_lib' }],
      ]);
      await lens.close();
      expect(SpanRegistry.namespaces()).toEqual([]);
    });

    it('N1: loaded twice, and without forRoot, they are registered once', async () => {
      const lens = await lensApp(platform)
        .imports(NestLensModule.forFeature({ namespace: 'first_lib', groups: ['first'] }))
        .start();
      for (const _time of [1, 2]) await lens.app.get(LazyModuleLoader).load(() => LazyModule);
      expect(SpanRegistry.namespaces()).toEqual(['first_lib', 'lazy_lib']);
      await lens.close();

      expect(SpanRegistry.namespaces()).toEqual([]);
      expect(codesOf(lens)).toEqual([]);
    });

    it('N7: its sites are there too', async () => {
      @Injectable()
      class Lazy {
        @SpanGroup('orders')
        work(): string {
          return 'done';
        }
      }
      class WorkingModule {}
      const lens = await orders().start();
      const sites = async (): Promise<string[]> =>
        (await lens.get('/lens/groups?sites=1'))
          .json()
          .groups[0].siteList.map((site: { name: string }) => site.name);
      expect(await sites()).toEqual(['OrdersController.list']);
      await lens.app.get(LazyModuleLoader).load(() => ({ module: WorkingModule, providers: [Lazy] }));

      expect(await sites()).toEqual(['Lazy.work', 'OrdersController.list']);
    });
  });

  it('H9: an instrumentation that cannot be disabled does not keep the application from closing clean', async () => {
    const stubborn = {
      instrumentationName: 'stubborn',
      instrumentationVersion: '1.0.0',
      enable: () => undefined,
      disable: () => {
        throw new Error('cannot be disabled');
      },
      setTracerProvider: () => undefined,
      setMeterProvider: () => undefined,
      setConfig: () => undefined,
      getConfig: () => ({}),
    };
    const lens = await orders()
      .forRoot({ telemetry: { instrumentations: [stubborn] } })
      .start();
    await lens.get('/orders');
    await lens.close();

    expect(lens.exporter.spans.map((span) => span.name)).toEqual(['OrdersController.list']);
    expect(isSpanGroupEnabled('orders')).toBe(false);
    expect(SpanRegistry.namespaces()).toEqual([]);
    const next = await orders().start();
    await next.get('/orders');
    expect(namesOf(await next.spans())).toEqual(['OrdersController.list']);
    expect(codesOf(lens)).toEqual([]);
  });

  it('H1, N7: the warnings of one that has closed are not those of the next', async () => {
    const first = await orders().spec('oders,orders').start();
    expect((await first.get('/lens/groups')).json().warnings).toHaveLength(1);
    await first.close();
    const second = await orders().start();

    expect((await second.get('/lens/groups')).json().warnings).toEqual([]);
  });

  it('C2: a factory of options that gives nothing is as forRoot() without any', async () => {
    const lens = await lensApp(platform)
      .imports(NestLensModule.forRootAsync({ useFactory: () => undefined as never }))
      .controllers(OrdersController)
      .start();

    expect((await lens.get('/orders')).json()).toEqual(['one']);
    expect((await lens.get('/lens/groups')).json().telemetry.enabled).toBe(false);
  });
});

describe('an application that starts while the last other one is closing', () => {
  guardEachTest();

  it('N2, H1: gets a set-up of its own, at whatever turn of the other one it comes', async () => {
    for (let turns = 0; turns < 12; turns++) {
      const first = await lensApp(express).groups('orders').start();
      const builder = lensApp(express).groups('orders');
      // Nest's own steps take many turns, so the two hooks are called by hand.
      const second = await NestFactory.create(builder.root(), express.create(), { logger: false });
      const starting = second.get(TelemetryLifecycle);
      starting.onModuleInit();
      const closing = edgeHooksOf(first.app).onApplicationShutdown();
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      await starting.onApplicationBootstrap();
      await closing;
      expect(await until(() => isSpanGroupEnabled('orders'))).toBe(true);
      managedSpan('orders', 'after', () => undefined);
      await edgeHooksOf(second).onApplicationShutdown();

      expect({ turns, spans: builder.exporter.spans.map((span) => span.name) }).toEqual({
        turns,
        spans: ['after'],
      });
      expect(first.exporter.spans).toEqual([]);
      await first.close();
      await second.close();
    }
  });
});
