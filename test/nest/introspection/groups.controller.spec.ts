import { describe, expect, it } from 'vitest';
import {
  Controller,
  Get,
  Inject,
  Injectable,
  Module,
  Post,
  Sse,
  Global,
  UseInterceptors,
  VersioningType,
} from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { APP_GUARD, APP_INTERCEPTOR, DiscoveryModule, DiscoveryService } from '@nestjs/core';
import { trace } from '@opentelemetry/api';
import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base';
import {
  clearSpanGroupOverride,
  managedSpan,
  NestLensModule,
  NoSpanGroup,
  overrideSpanGroups,
  setEnabledSpanGroups,
  SpanGroup,
  SpanGroupInterceptor,
  SpanRegistry,
  SpanRegistryService,
} from 'nest-lens';
import { of } from 'rxjs';
import type { Observable } from 'rxjs';
import { onEachPlatform } from '../../support/adapters.js';
import { everythingSaid, lensApp, setEnv } from '../../support/lens-app.js';
import type { LensApp } from '../../support/lens-app.js';

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

@Injectable()
class Payments {
  @SpanGroup('payment')
  charge(): string {
    return 'charged';
  }
}

@SpanGroup('orders')
@Controller('orders')
class OrdersController {
  @Get()
  list(): string {
    return 'list';
  }

  @Post(':id/items')
  add(): string {
    return 'added';
  }

  @Sse(':id/events')
  events(): Observable<object> {
    return of({ data: 'a' });
  }

  @Get('health')
  @NoSpanGroup()
  health(): string {
    return 'up';
  }
}

const shop = { namespace: 'shop', groups: ['payment', 'orders'], presets: { default: ['orders'] } };

const documentOf = async (lens: LensApp, query = ''): Promise<any> =>
  (await lens.get(`/lens/groups${query}`)).json();

const groupIn = (document: any, name: string): any =>
  document.groups.find((group: any) => group.name === name);

onEachPlatform('GET /lens/groups', (platform) => {
  const shopApp = (spec = 'default') =>
    lensApp(platform)
      .forRoot({ registrations: [shop] })
      .spec(spec)
      .controllers(OrdersController)
      .providers(Payments);

  describe('the document', () => {
    it('N7: it says what is on and why, exactly', async () => {
      const lens = await shopApp().start();
      const reply = await lens.get('/lens/groups');

      expect(reply.status).toBe(200);
      expect(reply.headers['content-type']).toMatch(/^application\/json/);
      expect(reply.headers['cache-control']).toBe('no-store');
      expect(reply.json()).toEqual({
        telemetry: {
          enabled: true,
          exporting: true,
          mode: 'own',
          lastExportAt: null,
          spansExported: 0,
          spansLost: 0,
        },
        spec: { configured: 'default', source: 'options', active: 'default', pinned: false, override: null },
        enabled: ['orders'],
        pending: [],
        groups: [
          {
            name: 'orders',
            enabled: true,
            namespaces: ['shop'],
            presets: ['default'],
            because: ['default'],
            sites: 3,
          },
          { name: 'payment', enabled: false, namespaces: ['shop'], presets: [], because: [], sites: 1 },
        ],
        presets: { all: ['orders', 'payment'], default: ['orders'] },
        namespaces: ['shop'],
        warnings: [],
        changes: [],
      });
    });

    it('N7: its keys come in the order of the contract', async () => {
      const document = await documentOf(await shopApp().start());

      expect(Object.keys(document)).toEqual([
        'telemetry',
        'spec',
        'enabled',
        'pending',
        'groups',
        'presets',
        'namespaces',
        'warnings',
        'changes',
      ]);
      expect(Object.keys(document.groups[0])).toEqual([
        'name',
        'enabled',
        'namespaces',
        'presets',
        'because',
        'sites',
      ]);
    });

    it('N7: all lists are sorted, whatever the order of registration', async () => {
      const lens = await lensApp(platform)
        .forRoot({
          registrations: [
            {
              namespace: 'zoo',
              groups: ['zebra', 'ant', 'shared'],
              presets: { night: ['zebra', 'ant'], day: ['ant'] },
            },
            {
              namespace: 'air',
              groups: ['wind', 'shared'],
              presets: { day: ['wind', 'shared', 'ant'] },
              allowOverride: true,
            },
          ],
        })
        .spec('zebra,night,unknown_b,day,unknown_a')
        .start();
      const document = await documentOf(lens);

      expect(document.enabled).toEqual(['ant', 'shared', 'wind', 'zebra']);
      expect(document.pending).toEqual(['unknown_a', 'unknown_b']);
      expect(document.groups.map((group: any) => group.name)).toEqual(['ant', 'shared', 'wind', 'zebra']);
      expect(document.presets).toEqual({
        all: ['ant', 'shared', 'wind', 'zebra'],
        day: ['ant', 'shared', 'wind'],
        night: ['ant', 'zebra'],
      });
      expect(document.namespaces).toEqual(['air', 'zoo']);
      expect(groupIn(document, 'shared').namespaces).toEqual(['air', 'zoo']);
      expect(groupIn(document, 'ant').presets).toEqual(['day', 'night']);
      expect(groupIn(document, 'zebra').because).toEqual(['night', 'zebra']);
      expect(groupIn(document, 'ant').because).toEqual(['day', 'night']);
    });

    it.each([
      ['all', { orders: ['all'], payment: ['all'] }],
      ['Default, ORDERS ', { orders: ['default', 'orders'], payment: [] }],
      ['orders,all', { orders: ['all', 'orders'], payment: ['all'] }],
      ['pay*', { orders: [], payment: ['pay*'] }],
      ['all,-payment', { orders: ['all'], payment: [] }],
      ['-default,all', { orders: [], payment: ['all'] }],
      ['orders,orders', { orders: ['orders'], payment: [] }],
    ])('S6, N7: because names the entries of %j that turned a group on', async (spec, because) => {
      const document = await documentOf(await shopApp(spec).start());

      expect(Object.fromEntries(document.groups.map((group: any) => [group.name, group.because]))).toEqual(
        because,
      );
      for (const group of document.groups) expect(group.enabled).toBe(group.because.length > 0);
    });

    it('N7: a warning is there with its code, its message and its time', async () => {
      const from = Date.now();
      const lens = await shopApp('default,oders').start();
      const { warnings } = await documentOf(lens);

      expect(warnings).toHaveLength(1);
      expect(warnings[0]).toEqual({
        code: 'SPEC_UNRESOLVED',
        message: lens.warnings[0]?.message,
        at: expect.stringMatching(ISO),
      });
      expect(warnings[0].message).toContain('oders');
      expect(Date.parse(warnings[0].at)).toBeGreaterThanOrEqual(from - 1);
      expect(Date.parse(warnings[0].at)).toBeLessThanOrEqual(Date.now());
    });

    it('N7: disabled, it says so: pinned, nothing on, no mode', async () => {
      const lens = await shopApp()
        .forRoot({ config: { enabled: false } })
        .start();
      const document = await documentOf(lens);

      expect(document.telemetry).toEqual({ enabled: false, exporting: false, mode: null });
      expect(document.spec).toMatchObject({ pinned: true, override: null });
      expect(document.enabled).toEqual([]);
      expect(document.groups).toEqual([
        { name: 'orders', enabled: false, namespaces: ['shop'], presets: ['default'], because: [], sites: 3 },
        { name: 'payment', enabled: false, namespaces: ['shop'], presets: [], because: [], sites: 1 },
      ]);
    });

    it('H6, N7: attached to the tracer provider of the application, it says so', async () => {
      trace.setGlobalTracerProvider(new BasicTracerProvider());
      const lens = await lensApp(platform)
        .imports(
          NestLensModule.forRoot({
            registrations: [shop],
            config: { enabled: true, spanGroups: 'default', exporter: 'none', metricsEnabled: false },
          }),
        )
        .start();

      expect((await documentOf(lens)).telemetry).toMatchObject({ enabled: true, mode: 'attach' });
    });

    it('N7: with exporter none and no exporter given, it says that nothing is exported', async () => {
      const lens = await lensApp(platform)
        .imports(
          NestLensModule.forRoot({
            registrations: [shop],
            config: { enabled: true, spanGroups: 'default', exporter: 'none', metricsEnabled: false },
          }),
        )
        .start();

      expect((await documentOf(lens)).telemetry).toEqual({ enabled: true, exporting: false, mode: 'own' });
    });

    it('T7, N7: an override is shown with its end, is what is active, and goes away', async () => {
      const lens = await shopApp().start();
      const from = Date.now();
      overrideSpanGroups('payment', { ttlMs: 60_000 });
      const overridden = await documentOf(lens);

      expect(overridden.spec).toEqual({
        configured: 'default',
        source: 'options',
        active: 'payment',
        pinned: false,
        override: { spec: 'payment', expiresAt: expect.stringMatching(ISO) },
      });
      const expiresAt = Date.parse(overridden.spec.override.expiresAt);
      expect(expiresAt - from).toBeGreaterThanOrEqual(59_999);
      expect(expiresAt - from).toBeLessThan(70_000);
      expect(overridden.enabled).toEqual(['payment']);
      expect(groupIn(overridden, 'payment').because).toEqual(['payment']);
      expect(groupIn(overridden, 'orders').because).toEqual([]);

      clearSpanGroupOverride();
      const cleared = await documentOf(lens);
      expect(cleared.spec).toMatchObject({ active: 'default', override: null });
      expect(cleared.enabled).toEqual(['orders']);
    });

    it('T4, N7: a process that was pinned says so', async () => {
      const lens = await shopApp().start();
      setEnabledSpanGroups(['payment', 'unregistered']);
      const document = await documentOf(lens);

      expect(document.spec).toMatchObject({ pinned: true, override: null });
      expect(document.enabled).toEqual(['payment', 'unregistered']);
      expect(document.pending).toEqual([]);
      expect(groupIn(document, 'payment').enabled).toBe(true);
      expect(groupIn(document, 'orders').enabled).toBe(false);
    });

    it('T6, N7: it follows the registry', async () => {
      const lens = await shopApp('default,late').start();
      expect((await documentOf(lens)).pending).toEqual(['late']);
      SpanRegistry.register('late_lib', ['late']);
      const document = await documentOf(lens);
      SpanRegistry.unregister('late_lib');

      expect(document.pending).toEqual([]);
      expect(document.enabled).toEqual(['late', 'orders']);
      expect(groupIn(document, 'late')).toEqual({
        name: 'late',
        enabled: true,
        namespaces: ['late_lib'],
        presets: [],
        because: ['late'],
        sites: 0,
      });
      expect((await documentOf(lens)).enabled).toEqual(['orders']);
    });

    it('R22, N7: names such as __proto__ are names like any other', async () => {
      const lens = await lensApp(platform)
        .forRoot({
          registrations: [
            {
              namespace: '__proto__',
              groups: ['__proto__', 'constructor'],
              presets: JSON.parse('{"__proto__": ["constructor"], "tostring": ["__proto__"]}') as Record<
                string,
                string[]
              >,
            },
          ],
        })
        .spec('tostring')
        .start();
      const { text } = await lens.get('/lens/groups');
      const document = JSON.parse(text);

      expect(document.enabled).toEqual(['__proto__']);
      expect(document.groups.map((group: any) => group.name)).toEqual(['__proto__', 'constructor']);
      expect(Object.getOwnPropertyDescriptor(document.presets, '__proto__')?.value).toEqual(['constructor']);
      expect(document.presets.tostring).toEqual(['__proto__']);
    });

    it('N7: it is what SpanRegistryService.describe() tells', async () => {
      const lens = await shopApp('default,oders').start();

      expect(await documentOf(lens)).toEqual(
        JSON.parse(JSON.stringify(lens.app.get(SpanRegistryService).describe())),
      );
    });

    it('N7: before set-up is over, describe() answers too', async () => {
      const told: any[] = [];
      @Injectable()
      class Early {
        constructor(@Inject(SpanRegistryService) registry: SpanRegistryService) {
          told.push(registry.describe());
        }
      }
      await shopApp().providers(Early).start();

      expect(told[0]).toMatchObject({ telemetry: { enabled: false, mode: null }, enabled: [], pending: [] });
    });
  });

  describe('?sites=1', () => {
    it('N7: it lists the sites of each group, handlers with their route', async () => {
      const document = await documentOf(await shopApp().start(), '?sites=1');

      expect(groupIn(document, 'orders').siteList).toEqual([
        { name: 'OrdersController.add', kind: 'handler', type: 'http', route: 'POST /orders/:id/items' },
        {
          name: 'OrdersController.events',
          kind: 'handler',
          type: 'http',
          route: 'GET /orders/:id/events',
        },
        { name: 'OrdersController.list', kind: 'handler', type: 'http', route: 'GET /orders' },
      ]);
      expect(groupIn(document, 'payment').siteList).toMatchObject([{ name: 'Payments.charge' }]);
      expect(groupIn(document, 'payment').siteList[0].kind).not.toBe('handler');
      for (const group of document.groups) expect(group.siteList).toHaveLength(group.sites);
    });

    it.each(['', '?sites=0', '?sites=', '?other=1'])('N7: %j does not list them', async (query) => {
      const document = await documentOf(await shopApp().start(), query);

      for (const group of document.groups) expect(group).not.toHaveProperty('siteList');
    });

    it.each(['?sites=1&sites=2', '?sites[a]=1', '?sites=%3Cb%3E', '?sites=1&__proto__=2'])(
      'N7: %j is answered with the document all the same',
      async (query) => {
        const lens = await shopApp().start();
        const reply = await lens.get(`/lens/groups${query}`);

        expect(reply.status).toBe(200);
        expect(reply.json().enabled).toEqual(['orders']);
      },
    );
  });

  describe('the route', () => {
    it('N7: it is not traced, nor is it under a global interceptor with all groups on', async () => {
      const lens = await shopApp('all')
        .providers({ provide: APP_INTERCEPTOR, useExisting: SpanGroupInterceptor })
        .start();
      for (let call = 0; call < 10; call += 1) await lens.get('/lens/groups?sites=1');

      expect(lens.tracker.started).toBe(0);
      expect((await documentOf(lens)).groups.map((group: any) => group.sites)).toEqual([3, 1]);
    });

    it('N7: guards of the application apply', async () => {
      class DenyAll implements CanActivate {
        canActivate(): boolean {
          return false;
        }
      }
      const lens = await shopApp().providers({ provide: APP_GUARD, useClass: DenyAll }).start();

      expect((await lens.get('/lens/groups')).status).toBe(403);
      expect((await lens.get('/lens/groups')).text).not.toContain('orders');
    });

    it('N7: guards of its own apply, to it alone, with what they inject', async () => {
      @Injectable()
      class Tokens {
        readonly valid = 'let-me-in';
      }
      @Global()
      @Module({ providers: [Tokens], exports: [Tokens] })
      class TokensModule {}
      @Injectable()
      class TokenGuard implements CanActivate {
        constructor(@Inject(Tokens) private readonly tokens: Tokens) {}

        canActivate(execution: ExecutionContext): boolean {
          return execution.switchToHttp().getRequest().headers['x-token'] === this.tokens.valid;
        }
      }
      const lens = await shopApp()
        .forRoot({ introspection: { guards: [TokenGuard] } })
        .imports(TokensModule)
        .start();

      expect((await lens.get('/lens/groups')).status).toBe(403);
      expect((await lens.get('/lens/groups', { headers: { 'x-token': 'let-me-in' } })).status).toBe(200);
      expect((await lens.get('/orders')).status).toBe(200);
    });

    it('N7: it can be moved', async () => {
      const lens = await shopApp()
        .forRoot({ introspection: { path: 'internal/telemetry' } })
        .start();

      expect((await lens.get('/internal/telemetry/groups')).json().enabled).toEqual(['orders']);
      expect((await lens.get('/lens/groups')).status).toBe(404);
    });

    it('N7: moved in one application, it stays where it is in the next', async () => {
      const moved = await shopApp()
        .forRoot({ introspection: { path: 'internal' } })
        .start();
      const usual = await shopApp().start();

      expect((await moved.get('/internal/groups')).status).toBe(200);
      expect((await moved.get('/lens/groups')).status).toBe(404);
      expect((await usual.get('/lens/groups')).status).toBe(200);
      expect((await usual.get('/internal/groups')).status).toBe(404);
    });

    it('N7: it can be turned off', async () => {
      const lens = await shopApp().forRoot({ introspection: false }).start();

      expect((await lens.get('/lens/groups')).status).toBe(404);
      expect((await lens.get('/orders')).text).toBe('list');
    });

    it('N7: it follows the global prefix', async () => {
      const lens = await shopApp()
        .configure((app) => void app.setGlobalPrefix('api'))
        .start();

      expect((await lens.get('/api/lens/groups')).status).toBe(200);
      expect((await lens.get('/lens/groups')).status).toBe(404);
    });

    it('N7: under URI versions it is neutral', async () => {
      const lens = await shopApp()
        .configure((app) => {
          app.setGlobalPrefix('api');
          app.enableVersioning({ type: VersioningType.URI, defaultVersion: '1' });
        })
        .start();

      expect((await lens.get('/api/lens/groups')).status).toBe(200);
      expect((await lens.get('/api/v1/lens/groups')).status).toBe(404);
      expect((await lens.get('/api/v1/orders')).status).toBe(200);
    });

    it('N7: under header versions it answers with and without a version', async () => {
      const lens = await shopApp()
        .configure(
          (app) =>
            void app.enableVersioning({
              type: VersioningType.HEADER,
              header: 'x-version',
              defaultVersion: '1',
            }),
        )
        .start();

      expect((await lens.get('/lens/groups')).status).toBe(200);
      expect((await lens.get('/lens/groups', { headers: { 'x-version': '2' } })).status).toBe(200);
    });

    it.each(['POST', 'PUT', 'DELETE', 'PATCH'])('N7: %s is not there', async (method) => {
      const lens = await shopApp().start();
      const reply = await lens.request(method, '/lens/groups', { body: { spec: 'payment', ttlSeconds: 60 } });

      expect(reply.status).toBe(404);
      expect((await documentOf(lens)).enabled).toEqual(['orders']);
    });

    it("N7: it is left out of Swagger's document", async () => {
      const lens = await shopApp().imports(DiscoveryModule).start();
      const controllers = lens.app
        .get(DiscoveryService)
        .getControllers()
        .filter(({ metatype }) => Reflect.getMetadata('path', metatype as object) === 'lens');

      expect(controllers).toHaveLength(1);
      expect(Reflect.getMetadata('swagger/apiExcludeController', controllers[0]!.metatype as object)).toEqual(
        [true],
      );
    });

    it('N7: its answer is the same for interceptors of the application as for any handler: they apply', async () => {
      const seen: string[] = [];
      const lens = await shopApp()
        .providers({
          provide: APP_INTERCEPTOR,
          useValue: {
            intercept(execution: ExecutionContext, next: { handle(): Observable<unknown> }) {
              seen.push(execution.getType());
              return next.handle();
            },
          },
        })
        .start();

      expect((await lens.get('/lens/groups')).status).toBe(200);
      expect(seen).toEqual(['http']);
    });

    it('N7, H12: with bad configuration it answers, and shows what was wrong without the value', async () => {
      setEnv({ NEST_LENS_ENABLED: 'true', NEST_LENS_EXPORTER: 'hidden-exporter-value' });
      const lens = await lensApp(platform)
        .imports(NestLensModule.forRoot({ registrations: [shop] }))
        .start();
      const reply = await lens.get('/lens/groups?sites=1');

      expect(reply.status).toBe(200);
      expect(reply.text).not.toContain('hidden-exporter-value');
    });

    it('N7: it shows no environment value, header, exporter URL or resource attribute', async () => {
      setEnv({
        NEST_LENS_ENABLED: 'true',
        NEST_LENS_SPAN_GROUPS: 'default',
        NEST_LENS_EXPORTER: 'otlp',
        NEST_LENS_METRICS_ENABLED: 'false',
        NEST_LENS_RUN_ID: 'hidden-run',
        NEST_LENS_USER_ID: 'hidden-user',
        OTEL_EXPORTER_OTLP_ENDPOINT: 'http://hidden-collector.invalid:4318',
        OTEL_EXPORTER_OTLP_HEADERS: 'x-api-key=hidden-key',
        OTEL_RESOURCE_ATTRIBUTES: 'deployment.owner=hidden-owner',
        OTEL_SERVICE_NAME: 'hidden-service',
      });
      const builder = lensApp(platform);
      const lens = await builder
        .imports(
          NestLensModule.forRoot({
            registrations: [shop],
            telemetry: builder.telemetry({ resourceAttributes: { 'deployment.secret': 'hidden-attribute' } }),
          }),
        )
        .controllers(OrdersController)
        .start();
      managedSpan('orders', 'hidden-span-name', () => undefined);
      const reply = await lens.get('/lens/groups?sites=1', {
        headers: { authorization: 'Bearer hidden-token' },
      });

      expect(reply.status).toBe(200);
      expect(reply.text).not.toMatch(/hidden/);
      expect(JSON.stringify(reply.headers)).not.toMatch(/hidden/);
      expect(reply.json().spec).toMatchObject({ configured: 'default', source: 'NEST_LENS_SPAN_GROUPS' });
    });

    it('N7: asking for it says nothing', async () => {
      const lens = await shopApp().start();
      await lens.get('/lens/groups?sites=1');

      expect(everythingSaid()).toEqual([]);
    });
  });

  describe('PUT, with runtimeControl', () => {
    @Injectable()
    class Everybody implements CanActivate {
      canActivate(): boolean {
        return true;
      }
    }
    const controlled = (): Promise<LensApp> =>
      shopApp()
        .forRoot({ introspection: { guards: [Everybody], runtimeControl: true } })
        .start();
    const put = (lens: LensApp, spec: unknown) => lens.request('PUT', '/lens/groups', { body: { spec } });

    it('T7, N7: a spec of up to 1,000 characters is taken', async () => {
      const lens = await controlled();
      const spec = `payment,${'x'.repeat(1_000 - 'payment,'.length)}`;
      const reply = await put(lens, spec);

      expect(reply.status).toBe(200);
      expect(reply.json()).toMatchObject({
        enabled: ['payment'],
        spec: { configured: 'default', active: spec },
      });
    });

    it('T7, N7: a longer one is refused with 400, and changes nothing', async () => {
      const lens = await controlled();
      const reply = await put(lens, `payment,${'x'.repeat(1_001 - 'payment,'.length)}`);

      expect(reply.status).toBe(400);
      expect(reply.text).toContain('1000');
      expect(await documentOf(lens)).toMatchObject({ enabled: ['orders'], spec: { override: null } });
      expect(everythingSaid()).toEqual([]);
    });
  });

  it('N7: a controller of the application at the same path keeps its own routes', async () => {
    @Controller('lens')
    @UseInterceptors(SpanGroupInterceptor)
    class LensesController {
      @Get('catalogue')
      @SpanGroup('orders')
      catalogue(): string {
        return 'glasses';
      }
    }
    const lens = await shopApp().controllers(LensesController).start();

    expect((await lens.get('/lens/catalogue')).text).toBe('glasses');
    expect((await lens.get('/lens/groups')).status).toBe(200);
  });
});
