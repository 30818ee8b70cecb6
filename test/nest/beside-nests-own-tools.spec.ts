import { describe, expect, it } from 'vitest';
import {
  Body,
  Controller,
  Get,
  Injectable,
  Module,
  type NestApplicationOptions,
  type OnModuleInit,
  Post,
  Scope,
  Type,
  ValidationPipe,
} from '@nestjs/common';
import { LazyModuleLoader, NestFactory, REQUEST } from '@nestjs/core';
import { createObserveModule } from '@nestjs/observe';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import {
  isSpanGroupEnabled,
  managedSpan,
  NestLensModule,
  SpanGroup,
  SpanRegistry,
  SpanRegistryService,
} from 'nest-lens';
import { express, onEachPlatform } from '../support/adapters.js';
import {
  everythingSaid,
  guardEachTest,
  lensApp,
  type LensAppBuilder,
  namesOf,
  RecordingExporter,
} from '../support/lens-app.js';

@Controller('orders')
class OrdersController {
  @Get()
  @SpanGroup('orders')
  list(): string[] {
    return ['one'];
  }
}

/** Puts a proxy before every object, whose methods run on the object itself. */
function proxied(instance: any): any {
  if (typeof instance !== 'object' || instance === null) return instance;
  return new Proxy(instance, {
    get(target, key) {
      const value = Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** The same, but its methods run on the proxy: those of a `Map` refuse that. */
function barelyProxied(instance: any): any {
  return typeof instance === 'object' && instance !== null ? new Proxy(instance, {}) : instance;
}

/** Puts an object that inherits everything in the place of every object. */
function inherited(instance: any): any {
  return typeof instance === 'object' && instance !== null ? Object.create(instance) : instance;
}

/** Puts a copy in the place of every plain object. */
function copied(instance: any): any {
  const isPlain = typeof instance === 'object' && instance !== null && instance.constructor === Object;
  return isPlain ? { ...instance } : instance;
}

onEachPlatform("an application with Nest's own tools", (platform) => {
  const orders = (): LensAppBuilder => lensApp(platform).groups('orders').controllers(OrdersController);
  const decorators: [string, () => (instance: any) => any][] = [
    ['that proxies what providers give', () => proxied],
    ['that puts bare proxies before it', () => barelyProxied],
    ['that inherits from it', () => inherited],
    ['that copies what is plain', () => copied],
    [
      'of @nestjs/observe',
      () => createObserveModule().ObserveInstrument!.instanceDecorator as (instance: any) => any,
    ],
  ];

  it.each(decorators)('N1, N2, N3, N7: an instanceDecorator %s changes nothing', async (_what, decorator) => {
    @Injectable()
    class Stock {
      constructor(readonly registry: SpanRegistryService) {}
    }
    @Module({
      imports: [NestLensModule.forFeature({ namespace: 'stock_lib', groups: ['stock'] })],
      providers: [Stock],
    })
    class StockModule {}
    const lens = await orders()
      .imports(StockModule)
      .applicationOptions({ instrument: { instanceDecorator: decorator() } })
      .start();
    await lens.get('/orders');
    const document = (await lens.get('/lens/groups?sites=1')).json();

    expect(document.enabled).toEqual(['orders', 'stock']);
    expect(document.groups[0].siteList).toEqual([
      { name: 'OrdersController.list', kind: 'handler', type: 'http', route: 'GET /orders' },
    ]);
    expect(lens.app.get(Stock).registry.isEnabled('stock')).toBe(true);
    expect(namesOf(await lens.spans())).toEqual(['OrdersController.list']);
    await lens.close();
    expect(lens.exporter.shutdowns).toBe(1);
    expect(SpanRegistry.namespaces()).toEqual([]);
    expect(everythingSaid()).toEqual([]);
  });

  const ways: [string, NestApplicationOptions][] = [
    ['a snapshot', { snapshot: true }],
    ['modules that are compared by their content', { moduleIdGeneratorAlgorithm: 'deep-hash' }],
    ['both', { snapshot: true, moduleIdGeneratorAlgorithm: 'deep-hash' }],
  ];

  it.each(ways)('N1, N2: with %s options that hold a processor can be given', async (_what, options) => {
    const exporter = new RecordingExporter();
    const circular: Record<string, unknown> = {};
    circular['itself'] = circular;
    const lens = await orders()
      .forRoot({
        telemetry: {
          spanExporter: undefined,
          spanProcessors: [Object.assign(new BatchSpanProcessor(exporter), { circular })],
        },
      })
      .imports(
        NestLensModule.forRoot({ registrations: [{ namespace: 'one', groups: ['one'] }] }),
        NestLensModule.forRoot({ registrations: [{ namespace: 'two', groups: ['two'] }] }),
        NestLensModule.forFeature({ namespace: 'three', groups: ['three'] }),
        NestLensModule.forFeature({ namespace: 'four', groups: ['four'] }),
      )
      .applicationOptions(options)
      .start();
    await lens.get('/orders');

    expect(SpanRegistry.namespaces()).toEqual(['four', 'one', 'shop', 'three', 'two']);
    await lens.close();
    expect(namesOf(exporter.spans)).toEqual(['OrdersController.list']);
    expect(lens.warnings).toEqual([]);
  });

  it('N7: a global ValidationPipe has nothing to say about the endpoint', async () => {
    class Order {
      name = '';
    }
    @Controller()
    class Shop {
      @Post('orders')
      add(@Body() order: Order): Order {
        return order;
      }
    }
    Reflect.defineMetadata('design:paramtypes', [Order], Shop.prototype, 'add');
    class Allowing {
      canActivate(): boolean {
        return true;
      }
    }
    const lens = await lensApp(platform)
      .groups('orders')
      .forRoot({ introspection: { guards: [Allowing], runtimeControl: true } })
      .controllers(Shop)
      .configure((app) => void app.useGlobalPipes(new ValidationPipe({ transform: true, whitelist: true })))
      .start();

    expect((await lens.get('/lens/groups?sites=1')).json().groups[0].siteList).toEqual([]);
    const override = await lens.request('PUT', '/lens/groups', { body: { spec: 'all', ttlSeconds: 9 } });
    expect(override.json().spec.override.spec).toBe('all');
    expect((await lens.request('DELETE', '/lens/groups')).status).toBe(200);
    expect(everythingSaid()).toEqual([]);
  });

  describe('a feature module that is loaded lazily while the application boots', () => {
    @Module({ imports: [NestLensModule.forFeature({ namespace: 'lazy_lib', groups: ['lazy'] })] })
    class LazyModule {}

    it.each(['onModuleInit', 'onApplicationBootstrap'] as const)(
      'N1: in %s, registers its groups',
      async (hook) => {
        const loading = async (loader: LazyModuleLoader): Promise<void> => {
          await loader.load(() => LazyModule);
        };
        @Injectable()
        class Loading {
          constructor(private readonly loader: LazyModuleLoader) {}
          [hook](): Promise<void> {
            return loading(this.loader);
          }
        }
        const lens = await orders().providers(Loading).start();

        expect(isSpanGroupEnabled('lazy')).toBe(true);
        expect(lens.warnings.map(({ code }) => code)).toEqual(
          hook === 'onModuleInit' ? [] : ['LATE_REGISTRATION'],
        );
        await lens.close();
        expect(SpanRegistry.namespaces()).toEqual([]);
      },
    );

    it('N1: by a global module that comes before NestLens, registers its groups', async () => {
      @Injectable()
      class Loading implements OnModuleInit {
        constructor(private readonly loader: LazyModuleLoader) {}
        async onModuleInit(): Promise<void> {
          await this.loader.load(() => LazyModule);
        }
      }
      const builder = orders();
      await builder
        .withoutRoot()
        .imports(
          { module: class {}, global: true, providers: [Loading] },
          NestLensModule.forRoot(builder.moduleOptions()),
        )
        .start();

      expect(isSpanGroupEnabled('lazy')).toBe(true);
      expect(everythingSaid()).toEqual([]);
    });

    it('N1: before it is initialised, registers its groups once', async () => {
      const builder = orders();
      const app = await NestFactory.create(builder.root(), platform.create(), { logger: false });
      await app.get(LazyModuleLoader).load(() => LazyModule);
      expect(SpanRegistry.namespaces()).toEqual([]);
      const lens = await builder.serve(app);

      expect(SpanRegistry.namespaces()).toEqual(['lazy_lib', 'shop']);
      await lens.close();
      expect(SpanRegistry.namespaces()).toEqual([]);
    });
  });
});

describe('forRoot in a module that is loaded lazily', () => {
  guardEachTest();

  /** Starts an application, loads a module with a forRoot lazily, and says what is registered then. */
  async function loadRoot(AppModule: Type): Promise<readonly string[]> {
    @Module({
      imports: [NestLensModule.forRoot({ registrations: [{ namespace: 'lazy_lib', groups: ['lazy'] }] })],
    })
    class LazyModule {}
    const app = await NestFactory.create(AppModule, express.create(), { logger: false });
    await app.init();
    try {
      await app.get(LazyModuleLoader).load(() => LazyModule);
      return SpanRegistry.namespaces();
    } finally {
      await app.close();
    }
  }

  it('H12: as the first one of the application, is refused with what to do', async () => {
    @Module({ imports: [NestLensModule.forFeature({ namespace: 'lib', groups: ['lib'] })] })
    class AppModule {}
    await expect(loadRoot(AppModule)).rejects.toMatchObject({
      code: 'ROOT_LOADED_LAZILY',
      message: expect.stringContaining('Import it in the root module'),
    });
  });

  it('N2: as a later one, registers its groups', async () => {
    @Module({ imports: [NestLensModule.forRoot()] })
    class AppModule {}
    expect(await loadRoot(AppModule)).toEqual(['lazy_lib']);
    expect(SpanRegistry.namespaces()).toEqual([]);
  });
});

describe('forRootAsync that injects something of each request', () => {
  guardEachTest();

  @Injectable({ scope: Scope.REQUEST })
  class Tenant {}
  @Module({ providers: [Tenant], exports: [Tenant] })
  class TenantModule {}
  @Injectable()
  class Options {
    constructor(readonly tenant: Tenant) {}
    createNestLensOptions(): object {
      return {};
    }
  }

  it.each([
    ['a provider', { imports: [TenantModule], inject: [Tenant], useFactory: () => ({}) }],
    ['the request', { inject: [REQUEST], useFactory: () => ({}) }],
    ['a class that needs one', { imports: [TenantModule], useClass: Options }],
  ])('H12: %s, stops the start, and says why', async (_what, options) => {
    @Module({ imports: [NestLensModule.forRootAsync(options)] })
    class AppModule {}
    const app = await NestFactory.create(AppModule, express.create(), { logger: false, abortOnError: false });
    await expect(app.init()).rejects.toMatchObject({
      code: 'OPTIONS_REQUEST_SCOPED',
      message: expect.stringContaining('request-scoped provider'),
    });
    await app.close();
  });

  it('C2: providers of the default scope that injects one of each inquirer are fine', async () => {
    @Injectable({ scope: Scope.TRANSIENT })
    class Settings {
      readonly spec = 'all';
    }
    @Module({ providers: [Settings], exports: [Settings] })
    class SettingsModule {}
    const exporter = new RecordingExporter();
    @Module({
      imports: [
        NestLensModule.forRootAsync({
          imports: [SettingsModule],
          inject: [Settings],
          useFactory: ({ spec }: Settings) => ({
            registrations: [{ namespace: 'shop', groups: ['orders'] }],
            config: { enabled: true, spanGroups: spec, metricsEnabled: false },
            telemetry: { spanExporter: exporter },
          }),
        }),
      ],
    })
    class AppModule {}
    const app = await NestFactory.create(AppModule, express.create(), { logger: false });
    await app.init();
    managedSpan('orders', 'work', () => undefined);
    await app.close();
    expect(namesOf(exporter.spans)).toEqual(['work']);
  });
});
